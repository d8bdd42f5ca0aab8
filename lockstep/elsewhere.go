//samestep:allow unseen the machine that runs rules elsewhere makes them deterministic
//samestep:allow global a Codec never changes

package lockstep

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// NewGameElsewhere returns the game of rules that run elsewhere, such as in a WebAssembly module (package module). Its configurations,
// commands and results are of type *[record.Untyped], [World] panics, and the rules' events are not delivered.
func NewGameElsewhere(m abi.Machine) (*Game, error) {
	one, err := m.New()
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %w", err)
	}
	defer one.Close()
	text, err := one.Call(abi.Describe, nil)
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %v: %w", abi.Describe, err)
	}
	d, err := abi.ParseDescription(text)
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules: %w", err)
	}
	e := &elsewhere{machine: m, description: d}
	g := &Game{
		name: d.Game, build: d.Build, sources: d.Sources, config: reflect.TypeFor[record.Untyped](),
		stateSchema: d.State.Schema, configSchema: d.Config.Schema,
		packConfig:   func(c any) []byte { return c.(*record.Untyped).Canonical },
		unpackConfig: func(b []byte) (any, error) { return &record.Untyped{Canonical: b}, d.Config.Validate(b) },
		newWorld:     e.newWorld,
		result:       untypedResult(d.Result.Schema),
		view:         untypedView(d.View.Schema, d.ViewTags),
	}
	if d.Words {
		g.describe = e.describe
	}
	if d.Assets {
		g.listAssets = e.assets
	}
	if g.selfTest, err = testSelf(func() uint64 { return d.SelfTest }); err != nil {
		return nil, err
	}
	var types []CommandType
	for _, k := range d.Commands {
		t := record.TypeOf(k.Kind, k.Name, k.Payload.Schema)
		if k.Limit != 0 {
			t = t.Limit(k.Limit, k.Per)
		}
		types = append(types, t)
	}
	if g.kinds, err = record.CompileKinds(types); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", d.Game, err)
	}
	e.game = g
	if err := e.checkNames(); err != nil {
		return nil, fmt.Errorf("lockstep: game %s: %w", d.Game, err)
	}
	return g, nil
}

func (e *elsewhere) checkNames() error {
	d := e.description
	err := cmp.Or(record.CheckName("name", d.Game), record.CheckName("build", d.Build))
	for _, s := range d.Schemas() {
		if err == nil && s.Floats() {
			err = errors.New("a type has floats, whose results differ between machines")
		}
	}
	return cmp.Or(err, e.game.Identity().CheckSchemas())
}

type elsewhere struct {
	machine     abi.Machine
	description *abi.Description
	game        *Game
}

// world makes a world; one that is unused runs in an instance that never had another.
func (e *elsewhere) world(unused bool) (*distantWorld, error) {
	makes := abi.Machine.New
	if unused {
		makes = abi.Unused
	}
	c, err := makes(e.machine)
	if err != nil {
		return nil, fmt.Errorf("lockstep: rules of %s: %w", e.game.name, err)
	}
	return &distantWorld{rules: e, caller: c}, nil
}

func (e *elsewhere) newWorld(h *Header, unused bool) (world, error) {
	if err := e.description.Config.Validate(h.Config); err != nil {
		return nil, fmt.Errorf("lockstep: configuration: %w", err)
	}
	w, err := e.world(unused)
	if err != nil {
		return nil, err
	}
	return w, w.configure(h.Settings, h.Config)
}

// assets returns what the rules list. It panics as a list of native rules does.
func (e *elsewhere) assets(config any) []Asset {
	w, err := e.world(false)
	if err == nil {
		defer w.caller.Close()
		err = w.configure(DefaultSettings(1), config.(*record.Untyped).Canonical)
	}
	if err != nil {
		panic(err)
	}
	var list abi.AssetList
	if err := abi.Lists.Decode(w.call(abi.Assets, nil), &list); err != nil {
		panic(badAnswer(abi.Assets, err))
	}
	return list.Assets
}

// describe returns the rules' words. It panics as those of native rules do.
func (e *elsewhere) describe(c *Command) string {
	w, err := e.world(false)
	if err != nil {
		panic(err)
	}
	defer w.caller.Close()
	text := w.call(abi.Word, w.command(c))
	return string(text[:min(len(text), maxWords)])
}

const maxWords = 4 << 10

func untypedResult(s *state.Schema) *resultCodec {
	if s == nil {
		return nil
	}
	return &resultCodec{
		schema: s,
		append: func(dst []byte, result any) []byte { return append(dst, result.(*record.Untyped).Canonical...) },
		decode: func(b []byte) (any, error) {
			return &record.Untyped{Canonical: append([]byte(nil), b...)}, s.Validate(b)
		},
	}
}

func untypedView(s *state.Schema, tags []state.Tag) *viewCodec {
	if s == nil {
		return nil
	}
	return &viewCodec{
		schema: s, tags: tags, of: reflect.TypeFor[record.Untyped](),
		decode: func([]byte, any) error { return errors.New("lockstep: the views of rules elsewhere have no Go type") },
		maker: func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
			return func(world, _ any, viewer Viewer, dst []byte) ([]byte, error) {
				w := world.(*distantWorld)
				defer w.keep()
				out, err := w.try(abi.View, []byte(viewer.String()))
				if err != nil {
					return dst, err
				}
				if err := s.Validate(out); err != nil {
					return dst, badAnswer(abi.View, err)
				}
				return append(dst, out...), nil
			}
		},
	}
}

// distantWorld is a world of rules that run elsewhere. Its methods panic with an [*abi.Fault] where native rules panic.
type distantWorld struct {
	rules   *elsewhere
	caller  abi.Caller
	config  []byte
	tick    Tick
	frame   abi.Frame
	outcome abi.Outcome
	answer  abi.Answer
	in      []byte
}

func badAnswer(f abi.Function, err error) *abi.Fault {
	return &abi.Fault{Wrong: true, Text: fmt.Sprintf("bad answer of %v: %v", f, err)}
}

func (w *distantWorld) call(f abi.Function, in []byte) []byte {
	out, err := w.try(f, in)
	if err != nil {
		panic(badAnswer(f, err))
	}
	return out
}

func (w *distantWorld) try(f abi.Function, in []byte) ([]byte, error) {
	out, err := w.caller.Call(f, in)
	if fault := (*abi.Fault)(nil); errors.As(err, &fault) {
		panic(fault)
	}
	return out, err
}

func (w *distantWorld) refusal(f abi.Function, in []byte) error {
	if _, err := w.try(f, in); err != nil {
		return &ConfigError{w.rules.game.name, err}
	}
	return nil
}

func (w *distantWorld) configure(s Settings, config []byte) error {
	w.config = config
	return w.refusal(abi.Configure, abi.Matches.Append(nil, &abi.Match{Seed: s.Seed, Players: s.Players, TickMicros: s.TickMicros, Config: config}))
}

func (w *distantWorld) load(contents [][]byte) error {
	var all abi.Contents
	for _, b := range contents {
		all.Contents = append(all.Contents, abi.Content{Bytes: b})
	}
	return w.refusal(abi.Load, abi.Loads.Append(nil, &all))
}

func (w *distantWorld) create(Settings) error {
	w.tick = 0
	return w.refusal(abi.Create, nil)
}

func (w *distantWorld) derive() {} // Create and Restore do

func (w *distantWorld) step(t *Turn) {
	f := &w.frame
	f.Tick, f.Draws, f.Phases = uint32(t.Tick), t.drawing, t.phased != nil
	f.Commands = f.Commands[:0]
	for i := range t.Commands {
		f.Commands = append(f.Commands, w.message(&t.Commands[i]))
	}
	w.in = abi.Frames.Append(w.in[:0], f)
	out := w.call(abi.Step, w.in)
	if err := abi.Outcomes.Decode(out, &w.outcome); err != nil {
		w.refuse(t, out)
	}
	w.tick = t.Tick
	o := &w.outcome
	for i := range o.Draws {
		t.draws = append(t.draws, Draw{o.Draws[i].Purpose, o.Draws[i].Entity, o.Draws[i].Phase})
	}
	if t.phased != nil {
		for i := range o.Phases {
			t.phased(o.Phases[i].Name, &checksum.Sum{Hash: o.Phases[i].Hash, Sections: o.Phases[i].Sections})
		}
	}
	if o.Ended {
		w.end(t)
	}
}

// refuse takes an answer with refusals.
func (w *distantWorld) refuse(t *Turn, answer []byte) {
	if err := abi.Answers.Decode(answer, &w.answer); err != nil {
		panic(badAnswer(abi.Step, err))
	}
	w.outcome = w.answer.Outcome
	at := 0
	for i := range w.answer.Refusals {
		r := &w.answer.Refusals[i]
		for at < len(t.Commands) && (uint8(t.Commands[at].Player) != r.Player || uint32(t.Commands[at].Sequence) != r.Sequence) {
			at++
		}
		if at == len(t.Commands) || t.Commands[at].Player == System {
			panic(badAnswer(abi.Step, fmt.Errorf("refusal %d: got command %d of %s, want one of a player, in the order of the frame", i, r.Sequence, Player(r.Player).Name())))
		}
		t.Refuse(&t.Commands[at], r.Reason)
		at++
	}
}

func (w *distantWorld) end(t *Turn) {
	if len(w.outcome.Result) == 0 {
		t.End(nil)
		return
	}
	if t.result != nil {
		if err := t.result.schema.Validate(w.outcome.Result); err != nil {
			panic(badAnswer(abi.Step, err))
		}
	}
	t.End(&record.Untyped{Canonical: w.outcome.Result})
}

func (w *distantWorld) message(c *Command) abi.Command {
	return abi.Command{Tick: uint32(c.Tick), Player: uint8(c.Player), Kind: uint16(c.Kind), Sequence: uint32(c.Sequence), Payload: c.Payload}
}

func (w *distantWorld) command(c *Command) []byte {
	m := w.message(c)
	w.in = abi.Commands.Append(w.in[:0], &m)
	return w.in
}

func (w *distantWorld) validate(c *Command) error {
	_, err := w.try(abi.Validate, w.command(c))
	return err
}

func (w *distantWorld) save() []byte {
	out := w.call(abi.Save, nil)
	if err := w.rules.description.State.Validate(out); err != nil {
		panic(badAnswer(abi.Save, err))
	}
	return out
}

func (w *distantWorld) append(dst []byte) []byte {
	defer w.keep()
	return append(dst, w.save()...)
}

func (w *distantWorld) appendConfig(dst []byte) []byte { return append(dst, w.config...) }

// keep keeps the instance, and so its answer, until here: a machine may take back the memory of one that nobody refers to.
func (w *distantWorld) keep() { w.in = w.in[:0] }

func (w *distantWorld) restore(t Tick, b []byte) error {
	if err := w.rules.description.State.Validate(b); err != nil {
		return err
	}
	w.in = abi.States.Append(w.in[:0], &abi.State{Tick: uint32(t), Canonical: b})
	_, err := w.try(abi.Restore, w.in)
	w.tick = t
	return err
}

func (w *distantWorld) copyFrom(o world) {
	other := o.(*distantWorld)
	defer other.keep()
	if err := w.restore(other.tick, other.save()); err != nil {
		panic(badAnswer(abi.Restore, err))
	}
}

func (w *distantWorld) sum(dst *checksum.Sum) {
	defer w.keep()
	if err := checksum.OfBytes(dst, w.rules.description.State.Schema, w.call(abi.Save, nil)); err != nil {
		panic(badAnswer(abi.Save, err))
	}
}

// distantCost is how many times as much as the same prints of a native state those of one that is elsewhere cost.
const distantCost = 8

func (w *distantWorld) prints(dst []uint64) ([]uint64, int) {
	defer w.keep()
	b := w.call(abi.Save, nil)
	dst, err := w.rules.description.State.AppendPrints(dst, b)
	if err != nil {
		panic(badAnswer(abi.Save, err))
	}
	return dst, distantCost * len(b)
}

func (w *distantWorld) close()        { w.caller.Close() }
func (w *distantWorld) state() any    { return w }
func (w *distantWorld) settings() any { return nil }

func (w *distantWorld) viewer(p Player) Viewer {
	defer w.keep()
	v, err := ParseViewer(string(w.call(abi.ViewerOf, []byte{uint8(p)})))
	if err != nil {
		panic(badAnswer(abi.ViewerOf, err))
	}
	return v
}
