package follow

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A tape has the commands of the latest ticks, or says that it does not, and never more bytes than it may.
func TestTape(t *testing.T) {
	const most = 1 << 10
	r := rand.New(rand.NewPCG(1, 2))
	var tp tape
	var all []lockstep.Command // the oracle
	tp.begin(100)
	for tick := lockstep.Tick(101); tick < 3000; tick++ {
		f := lockstep.Frame{Tick: tick}
		for i := range r.IntN(4) {
			payload := make([]byte, r.IntN(40))
			for i := range payload {
				payload[i] = byte(r.Uint32())
			}
			f.Commands = append(f.Commands, lockstep.Command{Tick: tick, Player: lockstep.Player(i), Sequence: lockstep.Sequence(tick), Kind: 7, Payload: payload})
		}
		tp.add(&f, most)
		all = append(all, f.Commands...)
		if r.IntN(20) == 0 {
			tp.forget(tick - lockstep.Tick(r.IntN(30)))
		}
		if tp.memory() > 5*most {
			t.Fatalf("tick %d: %d bytes", tick, tp.memory())
		}
		from := tick - lockstep.Tick(r.IntN(40))
		to := from + lockstep.Tick(r.IntN(int(tick-from)+1))
		got, kept := tp.since(from, to)
		if kept != (from >= tp.after) {
			t.Fatalf("tick %d: commands after tick %d: kept %t, forgotten up to %d", tick, from, kept, tp.after)
		}
		if !kept {
			continue
		}
		var want []lockstep.Command
		for _, c := range all {
			if c.Tick > from && c.Tick <= to {
				want = append(want, c)
			}
		}
		if !slices.EqualFunc(got, want, func(a, b lockstep.Command) bool {
			return record.Compare(&a, &b) == 0 && a.Kind == b.Kind && bytes.Equal(a.Payload, b.Payload)
		}) {
			t.Fatalf("tick %d: after %d to %d: got %v, want %v", tick, from, to, got, want)
		}
	}
	if tp.after < 2900 {
		t.Errorf("the tape reaches back to tick %d, so its limit was not reached", tp.after)
	}
}

// In the steady state a tape allocates nothing, and costs a copy.
func TestTapeAllocations(t *testing.T) {
	var tp tape
	f := lockstep.Frame{}
	for i := range lockstep.Player(8) {
		f.Commands = append(f.Commands, lockstep.Command{Player: i, Payload: make([]byte, 20)})
	}
	tick := func() {
		f.Tick++
		for i := range f.Commands {
			f.Commands[i].Tick = f.Tick
		}
		tp.add(&f, 1<<20)
		if f.Tick%20 == 0 && f.Tick > 160 {
			tp.forget(f.Tick - 160)
		}
	}
	for range 1000 {
		tick()
	}
	if n := testing.AllocsPerRun(1000, tick); n != 0 {
		t.Errorf("got %v allocations a tick, want 0", n)
	}
}

// BenchmarkTape measures what keeping the commands of a tick costs: 8 commands of 20 bytes.
func BenchmarkTape(b *testing.B) {
	var tp tape
	f := lockstep.Frame{}
	for i := range lockstep.Player(8) {
		f.Commands = append(f.Commands, lockstep.Command{Player: i, Payload: make([]byte, 20)})
	}
	for b.Loop() {
		f.Tick++
		for i := range f.Commands {
			f.Commands[i].Tick = f.Tick
		}
		tp.add(&f, 256<<10)
		if f.Tick%20 == 0 && f.Tick > 160 {
			tp.forget(f.Tick - 160)
		}
	}
}
