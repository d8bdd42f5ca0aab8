package lockstep

import (
	"errors"
	"strconv"
	"testing"
)

// After a panic a state cannot be copied, but another one can be restored over it.
func TestBrokenSimulation(t *testing.T) {
	type world struct{ N uint32 }
	g := MustGame(Rules[world, struct{}]{
		Name: "fragile", Build: "1",
		New: func(*world, *Settings, *struct{}) error { return nil },
		Step: func(w *world, _ *struct{}, turn *Turn) {
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

// Step, Derive and Validate read the match's configuration, also in a state that was restored.
func TestConfiguration(t *testing.T) {
	type world struct {
		Sum    uint32
		Double uint32 `state:"derived"`
	}
	type config struct{ Gain []uint32 }
	g := MustGame(Rules[world, config]{
		Name: "gain", Build: "1",
		New:    func(*world, *Settings, *config) error { return nil },
		Step:   func(w *world, c *config, turn *Turn) { w.Sum += c.Gain[turn.Tick] },
		Derive: func(w *world, c *config) { w.Double = 2 * c.Gain[0] },
		Validate: func(_ *world, c *config, _ *Command) error {
			return errors.New(strconv.Itoa(int(c.Gain[1])))
		},
	})
	h, err := g.NewHeader(MatchID{}, DefaultSettings(1), &config{Gain: []uint32{5, 7, 9}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Step(&Frame{Tick: 1}); err != nil {
		t.Fatal(err)
	}
	restored, err := g.AwaitState(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.Restore(1, first.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	if err := restored.Step(&Frame{Tick: 2}); err != nil {
		t.Fatal(err)
	}
	if w := World[world](restored); w.Sum != 7+9 || w.Double != 10 {
		t.Errorf("got %+v, want a sum of 16 and a double of 10", w)
	}
	if err := restored.Validate(&Command{}); err == nil || err.Error() != "7" {
		t.Errorf("Validate: got %v, want 7", err)
	}
	bad := *h
	bad.Config = h.Config[:1]
	if _, err := g.AwaitState(&bad); err == nil {
		t.Error("a cut configuration was accepted")
	}
}
