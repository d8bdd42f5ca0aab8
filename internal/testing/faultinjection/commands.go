package faultinjection

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A commandFault is something that happens to a command on its way into a copy of the match.
type commandFault struct {
	name string
	kind desync.CauseKind
	all  bool // it happens to all commands of the tick
	by   int  // how many ticks later they run

	// change returns the commands of a tick as the copy gets them. The fault happens to command
	// at of tick t. Nil: this command cannot have the fault.
	change func(m *match, dice *rand.Rand, t lockstep.Tick, at int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command
}

var commandFaults = []commandFault{
	{name: "dropped command", kind: desync.LostCommand, change: inTick(func(c []lockstep.Command, at int) []lockstep.Command { return slices.Delete(c, at, at+1) })},
	{name: "doubled command", kind: desync.DoubledCommand, change: inTick(func(c []lockstep.Command, at int) []lockstep.Command { return slices.Insert(c, at, c[at]) })},
	{name: "swapped commands", kind: desync.SwappedOrder, change: inTick(func(c []lockstep.Command, at int) []lockstep.Command {
		if at+1 == len(c) {
			return nil
		}
		c[at], c[at+1] = c[at+1], c[at]
		return c
	})},
	{name: "wrong order", kind: desync.SwappedOrder, all: true, change: inTick(func(c []lockstep.Command, _ int) []lockstep.Command {
		if len(c) < 2 {
			return nil
		}
		slices.Reverse(c)
		return c
	})},
	{name: "command a tick late", kind: desync.MovedCommand, by: 1, change: late(1)},
	{name: "command two ticks late", kind: desync.MovedCommand, by: 2, change: late(2)},
	{name: "command five ticks late", kind: desync.MovedCommand, by: 5, change: late(5)},
	{name: "command twelve ticks late", kind: desync.MovedCommand, by: 12, change: late(12)},
	{name: "command a tick early", kind: desync.MovedCommand, by: -1, change: late(-1)},
	{name: "commands of a tick late", kind: desync.MovedTick, all: true, change: tickLate},
	{name: "command of another player", kind: desync.OtherPlayer, change: issued},
	{name: "flipped bit in a command", kind: desync.AlteredPayload, change: misread(func(v uint64, dice *rand.Rand, bits int) uint64 { return v ^ 1<<dice.IntN(bits) })},
	{name: "number of a command off by one", kind: desync.AlteredPayload, change: misread(func(v uint64, _ *rand.Rand, _ int) uint64 { return v + 1 })},
	{name: "number of a command cut", kind: desync.AlteredPayload, change: misread(func(v uint64, _ *rand.Rand, _ int) uint64 { return v & 0xff })},
}

// plant returns a planter of the fault.
func (f commandFault) plant(m *match, dice *rand.Rand) (*variant, error) {
	t, at, ok := m.command(dice)
	if !ok {
		return nil, nil
	}
	change := f.change(m, dice, t, at)
	if change == nil {
		return nil, nil
	}
	v := &variant{tick: t - lockstep.Tick(max(0, -f.by)), what: m.naming(t, at), kind: f.kind, game: m.subject.Faulty(&Change{commands: change})}
	if f.all {
		v.what = fmt.Sprintf("the %d commands of tick %d", len(m.frames[t].Commands), t)
	} else {
		v.command = &m.frames[t].Commands[at]
	}
	return v, nil
}

// inTick changes the commands of the tick alone.
func inTick(change func(c []lockstep.Command, at int) []lockstep.Command) func(*match, *rand.Rand, lockstep.Tick, int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	return func(m *match, _ *rand.Rand, t lockstep.Tick, at int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
		if change(slices.Clone(m.frames[t].Commands), at) == nil {
			return nil
		}
		return func(now lockstep.Tick, c []lockstep.Command) []lockstep.Command {
			if now != t {
				return c
			}
			return change(c, at)
		}
	}
}

// late moves the command to a later tick before the next check, or to an earlier one.
func late(by int) func(*match, *rand.Rand, lockstep.Tick, int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	return func(m *match, _ *rand.Rand, t lockstep.Tick, at int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
		return m.late(t, by, func(i int) bool { return i == at })
	}
}

// tickLate moves all commands of the tick to a later one before the next check. Each of them must matter there: else nothing tells
// whether it ran late.
func tickLate(m *match, _ *rand.Rand, t lockstep.Tick, _ int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	const by = 3
	n := len(m.frames[t].Commands)
	whole := m.late(t, by, func(int) bool { return true })
	if n < 2 || whole == nil {
		return nil
	}
	check := m.subject.nextCheck(t)
	state := func(change func(lockstep.Tick, []lockstep.Command) []lockstep.Command) []byte {
		states, err := m.rerun(m.subject.Faulty(&Change{commands: change}), t-1, check)
		if err != nil {
			return nil
		}
		return states[check]
	}
	late := state(whole)
	for one := range n {
		if bytes.Equal(state(m.late(t, by, func(i int) bool { return i != one })), late) {
			return nil
		}
	}
	return whole
}

// late moves some commands of a tick to another one before the next check, or returns nil if that is after it.
func (m *match) late(t lockstep.Tick, by int, moves func(at int) bool) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	to := t + lockstep.Tick(by)
	if m.subject.nextCheck(t) != m.subject.nextCheck(to) {
		return nil
	}
	var moved []lockstep.Command
	for i := range m.frames[t].Commands {
		if moves(i) {
			moved = append(moved, decoded(m.game, m.frames[t].Commands[i:i+1])...)
		}
	}
	return func(now lockstep.Tick, c []lockstep.Command) []lockstep.Command {
		switch now {
		case t:
			rest := c[:0]
			for i := range c {
				if !moves(i) {
					rest = append(rest, c[i])
				}
			}
			return rest
		case to:
			for _, late := range moved {
				late.Tick = to
				i, _ := slices.BinarySearchFunc(c, &late, func(a lockstep.Command, b *lockstep.Command) int { return record.Compare(&a, b) })
				c = slices.Insert(c, i, late)
			}
		}
		return c
	}
}

// issued lets another player give the command.
func issued(m *match, dice *rand.Rand, t lockstep.Tick, at int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	c := decoded(m.game, m.frames[t].Commands[at:at+1])[0]
	other := lockstep.Player(dice.IntN(int(m.subject.Players)))
	if other == c.Player {
		return nil
	}
	c.Player = other
	return func(now lockstep.Tick, all []lockstep.Command) []lockstep.Command {
		if now != t {
			return all
		}
		all = slices.Delete(all, at, at+1)
		i, _ := slices.BinarySearchFunc(all, &c, func(a lockstep.Command, b *lockstep.Command) int { return record.Compare(&a, b) })
		return slices.Insert(all, i, c)
	}
}

// misread changes a random number in the command's payload.
func misread(change func(v uint64, dice *rand.Rand, bits int) uint64) func(*match, *rand.Rand, lockstep.Tick, int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
	return func(m *match, dice *rand.Rand, t lockstep.Tick, at int) func(lockstep.Tick, []lockstep.Command) []lockstep.Command {
		c := CloneFrame(&m.frames[t]).Commands[at]
		if !m.otherNumber(dice, &c, change) {
			return nil
		}
		c = decoded(m.game, []lockstep.Command{c})[0]
		return func(now lockstep.Tick, all []lockstep.Command) []lockstep.Command {
			if now == t {
				all[at] = c
			}
			return all
		}
	}
}
