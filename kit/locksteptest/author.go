package locksteptest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An author produces the players' commands: those of Options.Orders, or else those of Options.Play and random ones.
type author struct {
	m         *match
	random    *generator
	roster    *roster
	payloads  *record.Payloads
	sequences []lockstep.Sequence // by player
	written   []Order             // orders of Options.Orders that are left
	list      []order             // orders of the current tick
}

func (m *match) newAuthor(c *choices) (*author, error) {
	gen, err := newGenerator(c, m.header.Commands, m.options.Weights)
	if err != nil {
		return nil, err
	}
	last := m.options.Ticks
	if late := slices.IndexFunc(m.options.Orders, func(o Order) bool { return o.Tick > last }); late >= 0 {
		return nil, m.fail("play", 0, last, fmt.Errorf("an order for tick %d, want one of the %d ticks of the match", m.options.Orders[late].Tick, last))
	}
	return &author{
		m: m, random: gen, roster: newRoster(&m.options), payloads: m.game.NewPayloads(), written: m.options.Orders,
		sequences: make([]lockstep.Sequence, m.options.Players),
	}, nil
}

// orders returns the commands for tick t, given the state s before it. They are valid until the next call.
func (a *author) orders(t lockstep.Tick, s *lockstep.Simulation) ([]order, error) {
	a.list = a.list[:0]
	if a.m.options.Orders != nil {
		err := a.read(t)
		return a.list, err
	}
	if change := a.roster.next(); change != nil {
		a.list = append(a.list, order{tick: t, player: lockstep.System, system: change})
	}
	for p := range lockstep.Player(a.m.options.Players) {
		if a.m.options.Play != nil {
			if err := a.play(t, p, s); err != nil {
				return nil, err
			}
		}
		for range maxRandom {
			if a.random.total == 0 || a.random.below(16) >= a.m.options.Rate {
				break
			}
			kind, payload := a.random.command()
			a.add(t, p, kind, payload)
			if a.random.below(2) == 0 {
				break
			}
		}
	}
	return a.list, nil
}

func (a *author) add(t lockstep.Tick, p lockstep.Player, kind lockstep.Kind, payload []byte) {
	a.sequences[p]++
	a.list = append(a.list, order{tick: t, player: p, sequence: a.sequences[p], kind: kind, payload: payload})
}

// play calls Options.Play, which must only read.
func (a *author) play(t lockstep.Tick, p lockstep.Player, s *lockstep.Simulation) error {
	values := a.m.options.Play(p, s)
	if len(values) > maxPlayed {
		return a.m.fail("play", 0, t, fmt.Errorf("%d commands of player %d for one tick, want at most %d", len(values), p, maxPlayed))
	}
	for _, value := range values {
		kind, payload, err := a.payloads.Encode(value)
		if err != nil {
			return a.m.fail("play", 0, t, err)
		}
		a.add(t, p, kind, bytes.Clone(payload))
	}
	return a.m.compare("play", 0, s, a.m.states[t-1])
}

// read takes the orders of Options.Orders for tick t.
func (a *author) read(t lockstep.Tick) error {
	for len(a.written) > 0 && a.written[0].Tick <= t {
		o := &a.written[0]
		a.written = a.written[1:]
		if o.Player == lockstep.System && o.Tick == t {
			a.list = append(a.list, order{tick: t, player: o.Player, system: o.Value})
			continue
		}
		kind, payload, err := a.encode(o)
		switch {
		case err != nil:
		case o.Tick < t:
			err = fmt.Errorf("an order for tick %d, want orders from tick 1 on, by ascending tick", o.Tick)
		case int(o.Player) >= len(a.sequences):
			err = fmt.Errorf("an order of player %d of %d", o.Player, len(a.sequences))
		case a.count(o.Player) >= maxPlayed+maxRandom:
			err = fmt.Errorf("too many orders of player %d for tick %d, want at most %d", o.Player, t, maxPlayed+maxRandom)
		}
		if err != nil {
			return a.m.fail("play", 0, t, err)
		}
		a.add(t, o.Player, kind, bytes.Clone(payload))
	}
	slices.SortStableFunc(a.list, func(a, b order) int { return cmp.Compare(b.player/lockstep.System, a.player/lockstep.System) }) // System first
	return nil
}

// count returns how many of the current orders are of a player.
func (a *author) count(p lockstep.Player) (n int) {
	for i := range a.list {
		if a.list[i].player == p {
			n++
		}
	}
	return n
}

func (a *author) encode(o *Order) (lockstep.Kind, []byte, error) {
	if o.Kind == 0 {
		return a.payloads.Encode(o.Value)
	}
	payload, err := a.payloads.EncodeAs(o.Kind, o.Value)
	return o.Kind, payload, err
}
