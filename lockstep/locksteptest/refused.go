package locksteptest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// refused plays the match once more without the commands that were refused: nobody can tell the difference.
func (m *match) refused() error {
	c, err := m.coordinator(ignore{}, lockstep.FollowerOptions{})
	if err != nil {
		return err
	}
	last := make([]lockstep.Sequence, m.options.Players)
	next := 0
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		for ; next < len(m.played) && m.played[next].tick == t; next++ {
			o := &m.played[next]
			if o.system != nil {
				_ = issue(c, o.system) // as it went the first time
				continue
			}
			if o.receipt.Reason != lockstep.Accepted {
				continue
			}
			m.keepUp(c, o, &last[o.player])
			if r := c.Submit(o.player, o.sequence, o.kind, o.payload); r != o.receipt {
				return m.fail("refused", 0, t, fmt.Errorf("command %d of player %d, kind %d: got %v, want %v", o.sequence, o.player, o.kind, r, o.receipt))
			}
			last[o.player] = o.sequence
		}
		f, err := c.Tick()
		if err != nil {
			return m.fail("refused", 0, t, err)
		}
		if !equalFrames(f, &m.frames[t-1]) {
			return m.fail("refused", 0, t, fmt.Errorf("other commands were accepted: got %d, want %d", len(f.Commands), len(m.frames[t-1].Commands)))
		}
		if err := m.compare("refused", 0, c.Referee().Simulation(), m.states[t]); err != nil {
			return err
		}
	}
	return nil
}

// keepUp lets a player's sequences follow each other closely enough where many were refused in between: it submits
// commands that no game knows.
func (m *match) keepUp(c *coordinator.Coordinator, o *order, last *lockstep.Sequence) {
	const near = 200 // of the 256 that a coordinator looks ahead
	for *last+near < o.sequence {
		*last += near
		c.Submit(o.player, *last, m.unknown, nil)
	}
}

// unknownKind returns a kind that a game has no command of.
func unknownKind(g *lockstep.Game) lockstep.Kind {
	kind := ^lockstep.Kind(0)
	for g.HasKind(kind) {
		kind--
	}
	return kind
}

// judge lets a simulation judge the commands that came at its tick: it allows those that the coordinator allowed, and
// no others, as a server does that was started again.
func (m *match) judge(phase string, from lockstep.Tick, sim *lockstep.Simulation) error {
	t := sim.Tick() + 1
	at, _ := slices.BinarySearchFunc(m.played, t, func(o order, t lockstep.Tick) int { return cmp.Compare(o.tick, t) })
	m.payloads.Reset()
	for ; at < len(m.played) && m.played[at].tick == t; at++ {
		o := &m.played[at]
		if o.system != nil || o.receipt.Reason != lockstep.Accepted && o.receipt.Reason != lockstep.Refused {
			continue // the game was not asked
		}
		c := lockstep.Command{Tick: t - 1 + delayTicks, Player: o.player, Sequence: o.sequence, Kind: o.kind, Payload: o.payload}
		err := m.payloads.Decode(&c)
		if err == nil {
			err = sim.Validate(&c)
		}
		if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
			return m.fail(phase, from, t-1, err)
		}
		if allowed := err == nil; allowed != (o.receipt.Reason == lockstep.Accepted) {
			return m.fail(phase, from, t-1, fmt.Errorf("command %d of player %d, kind %d: got %v, want %v", o.sequence, o.player, o.kind, verdict(err), o.receipt))
		}
	}
	return nil
}

func verdict(err error) string {
	if err == nil {
		return "accepted"
	}
	return "rejected: " + err.Error()
}
