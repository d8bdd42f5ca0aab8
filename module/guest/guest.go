// Package guest is the inner side of a rules module: it answers the calls of docs/spec/abi.md for rules in Go. The program that
// samestep rules build makes calls [Export]. In all other programs, [Guest] serves tests.
package guest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Guest answers calls for a game. It is an [abi.Caller], and belongs to one goroutine.
type Guest struct {
	game     *lockstep.Game // with the contents of the match's assets
	words    bool           // the rules describe commands
	usual    func(players int) ([]byte, error)
	header   *lockstep.Header
	contents [][]byte
	sim      *lockstep.Simulation

	payloads *record.Payloads
	frame    lockstep.Frame
	in       abi.Frame
	outcome  abi.Outcome
	refusing abi.Answer
	out      []byte
}

var _ abi.Caller = (*Guest)(nil)

// New returns a guest of rules. usual makes the configuration of a usual match. If it is nil, that is the zero configuration.
func New[S, C any](rules lockstep.Rules[S, C], usual func(players int) C) (*Guest, error) {
	g, err := lockstep.NewGame(rules)
	if err != nil {
		return nil, err
	}
	codec, err := state.Compile[C]()
	if err != nil {
		return nil, err
	}
	guest := &Guest{game: g, words: rules.Describe != nil, payloads: g.NewPayloads()}
	guest.usual = func(players int) ([]byte, error) {
		var c C
		if usual != nil {
			c = usual(players)
		}
		return codec.Append(nil, &c), nil
	}
	guest.game = g.WithAssets(guest.asset)
	return guest, nil
}

func (g *Guest) asset(a lockstep.Asset) ([]byte, error) {
	list, err := g.game.Assets(g.header)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i] == a && i < len(g.contents) {
			return g.contents[i], nil
		}
	}
	return nil, record.ErrNoAsset
}

// Call implements [abi.Caller].
func (g *Guest) Call(f abi.Function, in []byte) (out []byte, err error) {
	g.out = g.out[:0]
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, &abi.Fault{Text: fmt.Sprint(v)}
		}
	}()
	err = g.answer(f, in)
	var panicked *lockstep.PanicError
	switch {
	case err == nil:
		return g.out, nil
	case errors.As(err, &panicked):
		return nil, &abi.Fault{Text: fmt.Sprint(panicked.Value), Stack: string(panicked.Stack)}
	}
	if refused := (*lockstep.ConfigError)(nil); errors.As(err, &refused) {
		err = refused.Err
	}
	return nil, &abi.Refusal{Text: err.Error()}
}

// Close implements [abi.Caller].
func (g *Guest) Close() {}

func (g *Guest) answer(f abi.Function, in []byte) (err error) {
	switch f {
	case abi.Describe:
		g.out, err = json.Marshal(g.describe())
		return err
	case abi.Configure:
		return g.configure(in)
	case abi.Word, abi.Usual:
		return g.withoutMatch(f, in)
	}
	if g.header == nil {
		return fmt.Errorf("%v before Configure", f)
	}
	switch f {
	case abi.Assets:
		list, err := g.game.Assets(g.header)
		g.out = abi.Lists.Append(g.out, &abi.AssetList{Assets: list})
		return err
	case abi.Load:
		return g.load(in)
	case abi.Create:
		g.sim, err = g.game.NewSimulation(g.header)
		return err
	case abi.Restore:
		return g.restore(in)
	}
	if g.sim == nil {
		return fmt.Errorf("%v before New or Restore", f)
	}
	return g.withWorld(f, in)
}

// withoutMatch answers what needs no match.
func (g *Guest) withoutMatch(f abi.Function, in []byte) (err error) {
	if f == abi.Usual {
		if len(in) != 1 {
			return fmt.Errorf("got %d bytes, want a number of players in one", len(in))
		}
		g.out, err = g.usual(int(in[0]))
		return err
	}
	c, err := g.command(in)
	if err != nil {
		return err
	}
	text, err := g.game.Describe(c)
	g.out = append(g.out, text...)
	return err
}

// withWorld answers what needs a world.
func (g *Guest) withWorld(f abi.Function, in []byte) (err error) {
	switch f {
	case abi.Save:
		g.out = g.sim.AppendState(g.out)
	case abi.Step:
		return g.step(in)
	case abi.Validate:
		c, err := g.command(in)
		if err != nil {
			return err
		}
		return g.sim.Validate(c)
	case abi.View:
		v, err := lockstep.ParseViewer(string(in))
		if err != nil {
			return err
		}
		g.out, err = g.sim.AppendView(g.out, v)
		return errors.Join(err)
	case abi.ViewerOf:
		if len(in) != 1 {
			return fmt.Errorf("got %d bytes, want a player in one", len(in))
		}
		g.out = append(g.out, g.sim.ViewerOf(lockstep.Player(in[0])).String()...)
	default:
		return fmt.Errorf("got %v, want one of version %d", f, abi.Version)
	}
	return nil
}

func (g *Guest) describe() *abi.Description {
	d := &abi.Description{
		ABI: abi.Version, Game: g.game.Name(), Build: g.game.Build(), Sources: g.game.Sources(),
		State: abi.Type{Schema: g.game.StateSchema()}, Config: abi.Type{Schema: g.game.ConfigSchema()},
		View: abi.Type{Schema: g.game.ViewSchema()}, ViewTags: g.game.ViewTags(), Assets: g.game.HasAssets(), Words: g.words, SelfTest: g.game.SelfTest().Game,
		Commands: []abi.Kind{},
	}
	if b := g.game.Identity().ResultSchema; len(b) > 0 {
		d.Result.Schema, _ = state.ParseSchema(b) // which a schema has written
	}
	for _, c := range g.game.Commands() {
		payload, _ := state.ParseSchema(c.Schema) // which a schema has written
		limit := g.game.CommandLimit(c.Kind)
		d.Commands = append(d.Commands, abi.Kind{Kind: c.Kind, Name: c.Name, Payload: abi.Type{Schema: payload}, Limit: limit.N, Per: limit.Per})
	}
	return d
}

func (g *Guest) configure(in []byte) error {
	var m abi.Match
	if err := abi.Matches.Decode(in, &m); err != nil {
		return err
	}
	h := g.game.Identity()
	h.Config = m.Config
	h.Settings = lockstep.Settings{Seed: m.Seed, Players: m.Players, TickMicros: m.TickMicros, CheckEvery: 1} // checks reach no rules
	g.header, g.contents, g.sim = h, nil, nil
	return nil
}

func (g *Guest) load(in []byte) error {
	var all abi.Contents
	if err := abi.Loads.Decode(in, &all); err != nil {
		return err
	}
	g.contents = nil
	for _, c := range all.Contents {
		g.contents = append(g.contents, c.Bytes)
	}
	return nil
}

func (g *Guest) restore(in []byte) (err error) {
	var s abi.State
	if err := abi.States.Decode(in, &s); err != nil {
		return err
	}
	if g.sim == nil {
		if g.sim, err = g.game.AwaitState(g.header); err != nil {
			return err
		}
	}
	return g.sim.Restore(lockstep.Tick(s.Tick), s.Canonical)
}

func (g *Guest) step(in []byte) error {
	if err := abi.Frames.Decode(in, &g.in); err != nil {
		return err
	}
	g.frame.Tick, g.frame.Commands = lockstep.Tick(g.in.Tick), g.frame.Commands[:0]
	for i := range g.in.Commands {
		g.frame.Commands = append(g.frame.Commands, native(&g.in.Commands[i]))
	}
	o := &g.outcome
	o.Draws, o.Phases = o.Draws[:0], o.Phases[:0]
	g.observe()
	if err := g.sim.StepInOrderGiven(&g.frame); err != nil {
		return err
	}
	o.Result, o.Ended = g.sim.Ended()
	a := &g.refusing
	a.Refusals = a.Refusals[:0]
	for i := range g.frame.Commands { // in the order of a frame
		c := &g.frame.Commands[i]
		if reason, refused := g.sim.Refused(c); refused {
			a.Refusals = append(a.Refusals, abi.CommandRefusal{Player: uint8(c.Player), Sequence: uint32(c.Sequence), Reason: reason})
		}
	}
	if len(a.Refusals) == 0 {
		g.out = abi.Outcomes.Append(g.out, o)
		return nil
	}
	a.Outcome = *o
	g.out = abi.Answers.Append(g.out, a)
	return nil
}

func (g *Guest) observe() {
	o := &g.outcome
	g.sim.ObserveDraws(nil)
	if g.in.Draws {
		g.sim.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) {
			o.Draws = append(o.Draws, abi.Draw{Purpose: d.Purpose, Entity: d.Entity, Phase: d.Phase})
		})
	}
	g.sim.ObservePhases(nil)
	if g.in.Phases {
		g.sim.ObservePhases(func(_ lockstep.Tick, name string, sum *checksum.Sum) {
			o.Phases = append(o.Phases, abi.Phase{Name: name, Hash: sum.Hash, Sections: sum.Clone().Sections})
		})
	}
}

func (g *Guest) command(in []byte) (*lockstep.Command, error) {
	var m abi.Command
	if err := abi.Commands.Decode(in, &m); err != nil {
		return nil, err
	}
	c := native(&m)
	g.payloads.Reset()
	return &c, g.payloads.Decode(&c)
}

func native(m *abi.Command) lockstep.Command {
	return lockstep.Command{Tick: lockstep.Tick(m.Tick), Player: lockstep.Player(m.Player), Kind: lockstep.Kind(m.Kind), Sequence: lockstep.Sequence(m.Sequence), Payload: m.Payload}
}
