package logbench

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A battle is a part of a match, as a log and as input of a bare loop of Step.
type battle struct {
	Subject
	config  []byte          // canonical
	begin   []byte          // state before the first tick
	base    lockstep.Tick   // of begin
	records [][]byte        // header, keyframe, and the records of each tick
	ends    []int           // end of each tick's records
	turns   []lockstep.Turn // with decoded commands
	alive   int             // sum of the units alive after each measured tick
}

// newBattle plays a battle and keeps its log.
func newBattle(s *Subject, checkEvery uint16) (*battle, error) {
	b := &battle{Subject: *s}
	b.WarmUp, b.Ticks, b.Part = cmp.Or(b.WarmUp, 100), cmp.Or(b.Ticks, 600), cmp.Or(b.Part, 20)
	settings := lockstep.DefaultSettings(b.Players)
	settings.Seed, settings.CheckEvery = 5, checkEvery
	h, err := b.Game.NewHeader(lockstep.MatchID{1}, settings, b.Config)
	if err != nil {
		return nil, err
	}
	b.config = h.Config
	err = b.play(h)
	var end *endError
	if errors.As(err, &end) && b.shorten(end.tick) {
		err = b.play(h)
	}
	if err == nil && b.alive < int(b.Units)*int(b.Ticks) {
		err = fmt.Errorf("logbench: %s, want %d units", b.measured(), b.Units)
	}
	return b, err
}

// measured says what is measured.
func (b *battle) measured() string {
	commands := 0
	for i := range b.turns {
		commands += len(b.turns[i].Commands)
	}
	text := fmt.Sprintf("%d ticks, %d commands", b.Ticks, commands)
	if b.Units > 0 {
		text += fmt.Sprintf(", %d units alive on average", b.alive/int(b.Ticks))
	}
	return text
}

// An endError says that the rules ended the match before all ticks were measured.
type endError struct{ tick lockstep.Tick }

func (e *endError) Error() string {
	return fmt.Sprintf("logbench: the rules ended the match at tick %d, want a longer one, by another configuration", e.tick)
}

// shorten makes the battle end before a tick. It reports whether enough is left to measure.
func (b *battle) shorten(end lockstep.Tick) bool {
	b.WarmUp = end / 7
	b.Part = max(1, min(b.Part, (end-1-b.WarmUp)/4))
	b.Ticks = (end - 1 - b.WarmUp) / b.Part * b.Part
	return b.Ticks >= b.Part
}

// play runs the match and keeps its records after the warm-up.
func (b *battle) play(h *lockstep.Header) error {
	sim, err := b.Game.NewSimulation(h)
	if err != nil {
		return err
	}
	if b.arrange != nil {
		if err := b.arrange(sim); err != nil {
			return err
		}
	}
	b.records, b.ends, b.turns, b.alive = nil, nil, nil, 0
	var enc record.Encoder
	keep := func(record []byte) { b.records = append(b.records, append([]byte{}, record...)) }
	keep(enc.Header(h))
	crowd := newCrowd(&b.Subject, h.Settings.Seed)
	for t := lockstep.Tick(1); t <= b.WarmUp+b.Ticks; t++ {
		frame, err := crowd.frame(t, sim)
		if err != nil {
			return err
		}
		if err := sim.Step(frame); err != nil {
			return err
		}
		if _, ended := sim.Ended(); ended {
			return &endError{t}
		}
		switch {
		case t == b.WarmUp:
			b.base, b.begin = t, sim.AppendState(nil)
			keep(enc.Keyframe(t, sim.Hash(), crowd.last(), b.begin))
			b.ends = append(b.ends, len(b.records))
		case t > b.WarmUp:
			keep(enc.Frame(frame))
			if t%lockstep.Tick(h.Settings.CheckEvery) == 0 {
				keep(enc.Checksum(t, sim.Hash()))
			}
			b.ends = append(b.ends, len(b.records))
			if err := b.turn(frame); err != nil {
				return err
			}
			if b.Units > 0 {
				b.alive += alive(sim)
			}
			if b.seen != nil {
				b.seen(sim)
			}
		}
	}
	keep(enc.End("measured"))
	return nil
}

// turn keeps a frame with decoded commands for the bare loop.
func (b *battle) turn(f *lockstep.Frame) error {
	turn := lockstep.Turn{Tick: f.Tick}
	for _, c := range f.Commands {
		if err := b.Game.NewPayloads().Decode(&c); err != nil { // a new decoder, whose value stays
			return err
		}
		turn.Commands = append(turn.Commands, c)
	}
	b.turns = append(b.turns, turn)
	return nil
}

// parts returns how often the clock is read in the measured ticks.
func (b *battle) parts() int { return int(b.Ticks / b.Part) }

// bare sets a loop to the state before the first tick.
func (b *battle) bare(l Loop) error { return l.Begin(b.begin, b.config, b.Game.ReadAsset) }

// step is the bare loop: it runs the turns of a part.
func (b *battle) step(l Loop, part int) {
	n := int(b.Part)
	for i := part * n; i < (part+1)*n; i++ {
		l.Step(&b.turns[i])
	}
}

// A crowd is the bots of a match and the last sequences of their commands.
type crowd struct {
	bots      []lockstep.Bot
	sequences []lockstep.Sequence
	payloads  *record.Payloads
}

func newCrowd(s *Subject, seed uint64) *crowd {
	c := &crowd{payloads: s.Game.NewPayloads(), sequences: make([]lockstep.Sequence, s.Players)}
	for p := range lockstep.Player(s.Players) {
		c.bots = append(c.bots, s.Bot(p, seed))
	}
	return c
}

// frame returns the bots' commands for tick t.
func (c *crowd) frame(t lockstep.Tick, sim *lockstep.Simulation) (*lockstep.Frame, error) {
	f := &lockstep.Frame{Tick: t}
	for p, bot := range c.bots {
		for _, value := range bot(sim) {
			kind, payload, err := c.payloads.Encode(value)
			if err != nil {
				return nil, fmt.Errorf("logbench: bot %d: %w", p, err)
			}
			c.sequences[p]++
			f.Commands = append(f.Commands, lockstep.Command{
				Tick: t, Player: lockstep.Player(p), Sequence: c.sequences[p], Kind: kind, Payload: append([]byte{}, payload...),
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
