package lockstep

import (
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
)

// sums counts how often a state is hashed.
type sums struct {
	world
	n int
}

func (s *sums) sum(dst *checksum.Sum) {
	s.n++
	s.world.sum(dst)
}

// A log that has the checksum of one tick again and again does not make its reader
// hash the state each time: a record of four bytes would cost as much as the
// largest state.
func TestChecksumsOfOneTick(t *testing.T) {
	type counter struct{ N uint64 }
	g := MustGame(Rules[counter, struct{}]{
		Name: "count", Build: "1",
		New:  func(*counter, *Settings, *struct{}) error { return nil },
		Step: func(w *counter, _ *struct{}, _ *Turn) { w.N++ },
	})
	h, err := g.NewHeader(MatchID{1}, DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	f := g.NewFollowerAt(h, sim, FollowerOptions{History: HistoryOptions{Length: 2}})
	counted := &sums{world: sim.world}
	sim.world = counted
	for tick := Tick(1); tick <= 3; tick++ {
		if err := f.Advance(&Frame{Tick: tick}); err != nil {
			t.Fatal(err)
		}
		hash := sim.Hash()
		before := counted.n
		for range 100 {
			if err := f.compare(tick, hash, false); err != nil {
				t.Fatal(err)
			}
		}
		if n := counted.n - before; n != 1 {
			t.Errorf("tick %d: hashed the state %d times for 100 checksums of it, want 1", tick, n)
		}
		if f.compare(tick, hash+1, false) == nil {
			t.Errorf("tick %d: a wrong checksum passed", tick)
		}
	}
}
