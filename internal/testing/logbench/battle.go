package logbench

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

const (
	players     = 4
	warmUpTicks = 30 // until most units fight
	battleTicks = 60 // measured
)

// A battle is a part of a match, as a log and as input of a bare loop of Step.
type battle struct {
	game    *lockstep.Game
	rules   lockstep.Rules[skirmish.World, skirmish.Config]
	codec   *state.Codec[skirmish.World]
	begin   []byte          // state before the first tick
	base    lockstep.Tick   // of begin
	records [][]byte        // header, keyframe, and the records of each tick
	ticks   []int           // end of each tick's records
	turns   []lockstep.Turn // with decoded commands
	units   int             // alive, summed over the ticks
	targets int             // of these, with a target
}

// newBattle plays a battle and keeps its log.
func newBattle(units, checkEvery uint16) (*battle, error) {
	b := &battle{rules: skirmish.Rules()}
	var err error
	if b.codec, err = state.Compile[skirmish.World](); err != nil {
		return nil, err
	}
	if b.game, err = lockstep.NewGame(b.rules); err != nil {
		return nil, err
	}
	config := skirmish.Defaults(players, units)
	settings := lockstep.DefaultSettings(players)
	settings.Seed, settings.CheckEvery = 5, checkEvery
	h, err := b.game.NewHeader(lockstep.MatchID{1}, settings, &config)
	if err != nil {
		return nil, err
	}
	sim, err := b.game.NewSimulation(h)
	if err != nil {
		return nil, err
	}
	if err := b.scatter(sim); err != nil {
		return nil, err
	}
	return b, b.play(sim, h)
}

// scatter puts the soldiers and archers at random places of the map without rocks.
func (b *battle) scatter(sim *lockstep.Simulation) error {
	var w skirmish.World
	if err := b.codec.Decode(sim.AppendState(nil), &w); err != nil {
		return err
	}
	dice := fixed.NewRand(9)
	for i := range w.Units {
		u := &w.Units[i]
		for u.Kind == skirmish.Soldier || u.Kind == skirmish.Archer {
			x, y := dice.N(uint32(w.Map.Size)), dice.N(uint32(w.Map.Size))
			if !w.Map.Rock(int(x), int(y)) {
				u.Pos = fixed.Vec2{X: fixed.Q(x)*fixed.One + fixed.Half, Y: fixed.Q(y)*fixed.One + fixed.Half}
				u.Goal, u.Home = u.Pos, u.Pos
				break
			}
		}
	}
	return sim.Restore(0, b.codec.Append(nil, &w))
}

// play runs the match and keeps its records after the warm-up.
func (b *battle) play(sim *lockstep.Simulation, h *lockstep.Header) error {
	var enc record.Encoder
	keep := func(record []byte) { b.records = append(b.records, append([]byte{}, record...)) }
	keep(enc.Header(h))
	crowd := newCrowd(b.game, &h.Settings)
	for t := lockstep.Tick(1); t <= warmUpTicks+battleTicks; t++ {
		frame, err := crowd.frame(t, lockstep.World[skirmish.World](sim))
		if err != nil {
			return err
		}
		if err := sim.Step(frame); err != nil {
			return err
		}
		switch {
		case t == warmUpTicks:
			b.base, b.begin = t, sim.AppendState(nil)
			keep(enc.Keyframe(t, sim.Hash(), crowd.last(), b.begin))
			b.ticks = append(b.ticks, len(b.records))
		case t > warmUpTicks:
			keep(enc.Frame(frame))
			if t%lockstep.Tick(h.Settings.CheckEvery) == 0 {
				keep(enc.Checksum(t, sim.Hash()))
			}
			b.ticks = append(b.ticks, len(b.records))
			if err := b.turn(frame); err != nil {
				return err
			}
			b.count(lockstep.World[skirmish.World](sim))
		}
	}
	keep(enc.End("measured"))
	return nil
}

// turn keeps a frame with decoded commands for the bare loop.
func (b *battle) turn(f *lockstep.Frame) error {
	turn := lockstep.Turn{Tick: f.Tick}
	for _, c := range f.Commands {
		if err := b.game.NewPayloads().Decode(&c); err != nil { // a new decoder, whose value stays
			return err
		}
		turn.Commands = append(turn.Commands, c)
	}
	b.turns = append(b.turns, turn)
	return nil
}

func (b *battle) count(w *skirmish.World) {
	b.units += len(w.Units)
	for i := range w.Units {
		if w.Units[i].Target != 0 {
			b.targets++
		}
	}
}

// bare sets w to the state before the first tick.
func (b *battle) bare(w *skirmish.World) error {
	if err := b.codec.Decode(b.begin, w); err != nil {
		return err
	}
	b.rules.Derive(w, nil)
	return nil
}

// step is the bare loop: it runs the turns from..to-1 on w.
func (b *battle) step(w *skirmish.World, from, to int) {
	for i := from; i < to; i++ {
		b.rules.Step(w, nil, &b.turns[i])
	}
}

// A crowd is the bots of a match and the last sequences of their commands.
type crowd struct {
	bots      []*skirmish.Bot
	sequences []lockstep.Sequence
	payloads  *record.Payloads
}

func newCrowd(g *lockstep.Game, s *lockstep.Settings) *crowd {
	c := &crowd{payloads: g.NewPayloads(), sequences: make([]lockstep.Sequence, s.Players)}
	for p := range lockstep.Player(s.Players) {
		c.bots = append(c.bots, skirmish.NewBot(p, s.Seed))
	}
	return c
}

// frame returns the bots' commands for tick t.
func (c *crowd) frame(t lockstep.Tick, w *skirmish.World) (*lockstep.Frame, error) {
	f := &lockstep.Frame{Tick: t}
	for p, bot := range c.bots {
		for _, order := range bot.Think(w) {
			payload, err := c.payloads.EncodeAs(order.Kind, order.Value)
			if err != nil {
				return nil, fmt.Errorf("logbench: bot %d: %w", p, err)
			}
			c.sequences[p]++
			f.Commands = append(f.Commands, lockstep.Command{
				Tick: t, Player: lockstep.Player(p), Sequence: c.sequences[p], Kind: order.Kind, Payload: append([]byte{}, payload...),
			})
		}
	}
	return f, nil
}

// last returns the last sequence of each bot that has given a command.
func (c *crowd) last() (last []record.LastSequence) {
	for p, seq := range c.sequences {
		if seq > 0 {
			last = append(last, record.LastSequence{Player: lockstep.Player(p), Sequence: seq})
		}
	}
	return last
}
