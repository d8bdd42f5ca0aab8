package lockstep

import (
	"errors"
	"testing"
)

// After a panic a state cannot be copied, but another one can be restored over it.
func TestBrokenSimulation(t *testing.T) {
	type world struct{ N uint32 }
	g := MustGame(Rules[world, struct{}]{
		Name: "fragile", Build: "1",
		New: func(*world, *Settings, *struct{}) error { return nil },
		Step: func(w *world, turn *Turn) {
			if w.N++; turn.Tick == 2 {
				panic("fault")
			}
		},
	})
	h, err := g.NewHeader(MatchID{}, DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	other, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	good := sim.AppendState(nil)
	sim.Step(&Frame{Tick: 1})
	fault := sim.Step(&Frame{Tick: 2})
	var p *PanicError
	if !errors.As(fault, &p) || p.Tick != 2 || p.Where != "Step" || len(p.Stack) == 0 {
		t.Fatalf("got %v, want a panic in Step at tick 2", fault)
	}
	if err := sim.Step(&Frame{Tick: 2}); err != fault {
		t.Errorf("step again: got %v", err)
	}
	if err := other.CopyFrom(sim); err != fault || other.Tick() != 0 {
		t.Errorf("copied: got %v, tick %d", err, other.Tick())
	}
	if err := sim.Restore(0, good); err != nil || sim.Tick() != 0 || sim.Step(&Frame{Tick: 1}) != nil {
		t.Errorf("restored: %v, tick %d", err, sim.Tick())
	}
	if err := sim.Restore(0, good[:1]); err == nil || sim.Tick() != 1 {
		t.Errorf("restored from one byte: %v, tick %d", err, sim.Tick())
	}
}
