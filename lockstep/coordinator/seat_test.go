package coordinator

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A slot releases the memory of a burst, and keeps the memory that a usual tick needs.
func TestSlotMemory(t *testing.T) {
	var all slots
	for _, c := range []struct{ commands, sizeBytes, keep int }{{16, 40, 1}, {10, 16 << 10, 0}, {4 * keepCommands, 1, 0}} {
		s := all.of(1, 2)
		payload := make([]byte, c.sizeBytes)
		for i := range c.commands {
			s.add(lockstep.Command{Tick: 1, Player: lockstep.Player(i % 2), Sequence: lockstep.Sequence(i), Payload: payload})
		}
		if s.shares[0].sizeBytes != uint32(c.commands/2*c.sizeBytes) {
			t.Errorf("player 0 has %d bytes of the tick, want %d", s.shares[0].sizeBytes, c.commands/2*c.sizeBytes)
		}
		all.release(1)
		if cap(s.payloads) > keepPayloads || cap(s.commands) > keepCommands {
			t.Errorf("%d commands of %d bytes: %d bytes and %d commands are kept", c.commands, c.sizeBytes, cap(s.payloads), cap(s.commands))
		}
		if c.keep == 1 && (cap(s.payloads) == 0 || cap(s.commands) == 0) {
			t.Errorf("%d commands of %d bytes: nothing is kept", c.commands, c.sizeBytes)
		}
	}
	if len(all.free) != 1 {
		t.Errorf("got %d slots, want 1 used again", len(all.free))
	}
}

// No window of any order of ticks has more commands than the limit. In ascending order every command that fits is accepted,
// and the wait is exact.
func TestWindowHoldsTheLimit(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		limits := []limit{{kind: 1, n: 1 + r.IntN(6), per: lockstep.Tick(1 + r.IntN(12))}, {kind: 4, n: 1, per: 1000}}
		l, s, at, accepted := limits[0], seat{}, lockstep.Tick(1), []lockstep.Tick(nil)
		within := func(x lockstep.Tick) bool { // the naive answer for x in the last tick
			n := 0
			for _, a := range accepted {
				if a+l.per > x {
					n++
				}
			}
			return n < l.n
		}
		ordered := seed%2 == 0
		for range 300 {
			at += lockstep.Tick(r.IntN(4))
			x := at
			if !ordered {
				x -= min(x-1, lockstep.Tick(r.IntN(5)))
			}
			wait, detail := s.wait(limits, 1, x)
			if ordered && (wait == 0) != within(x) || ordered && wait > 0 && (!within(x+wait) || within(x+wait-1)) {
				t.Fatalf("seed %d: %v in %v: got a wait of %d for tick %d (%s)", seed, accepted, l, wait, x, detail)
			}
			if wait == 0 {
				s.used(limits, 1, x)
				accepted = append(accepted, x)
			}
		}
		slices.Sort(accepted)
		for i := range accepted {
			if i >= l.n && accepted[i]-accepted[i-l.n] < l.per {
				t.Fatalf("seed %d: got %d commands in less than %d ticks: %v", seed, l.n+1, l.per, accepted)
			}
		}
		if wait, _ := s.wait(limits, 4, at); wait > 0 || len(s.windows[0]) > l.n || cap(s.windows[1]) > 0 {
			t.Errorf("seed %d: another kind waits %d ticks; windows %v", seed, wait, s.windows)
		}
	}
}
