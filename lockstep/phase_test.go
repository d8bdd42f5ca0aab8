package lockstep_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

type phasedWorld struct{ Tick, Hits uint32 }

type phasedConfig struct{}

func phasedRules() lockstep.Rules[phasedWorld, phasedConfig] {
	return lockstep.Rules[phasedWorld, phasedConfig]{
		Name: "phased", Build: "1",
		New: func(*phasedWorld, *lockstep.Settings, *phasedConfig) error { return nil },
		Step: func(w *phasedWorld, _ *phasedConfig, t *lockstep.Turn) {
			t.Drew("start", 0)
			t.Phase("clock")
			w.Tick = uint32(t.Tick)
			t.Drew("weather", 1)
			t.Phase("combat")
			w.Hits += w.Tick
			t.Drew("damage", 7)
		},
	}
}

func phasedSimulation() *lockstep.Simulation {
	g := lockstep.MustGame(phasedRules())
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &phasedConfig{})
	if err != nil {
		panic(err)
	}
	s, err := g.NewSimulation(h)
	if err != nil {
		panic(err)
	}
	return s
}

// An observer gets the sum of the state at the beginning of each phase.
func ExampleTurn_Phase() {
	s := phasedSimulation()
	var before uint64
	s.ObservePhases(func(t lockstep.Tick, phase string, sum *checksum.Sum) {
		fmt.Println(t, phase, sum.Hash != before)
		before = sum.Hash
	})
	if err := s.Step(&lockstep.Frame{Tick: 1}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 clock true
	// 1 combat true
}

// Marks cost nothing while nobody observes them.
func TestPhasesAllocateNothing(t *testing.T) {
	s := phasedSimulation()
	tick := lockstep.Tick(0)
	if n := testing.AllocsPerRun(100, func() {
		tick++
		if err := s.Step(&lockstep.Frame{Tick: tick}); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
	s.ObservePhases(func(lockstep.Tick, string, *checksum.Sum) { t.Error("an observer is called after it was removed") })
	s.ObservePhases(nil)
	if err := s.Step(&lockstep.Frame{Tick: tick + 1}); err != nil {
		t.Fatal(err)
	}
}

// A draw has the phase in which it was made, in each tick, whether or not somebody observes phases.
func TestDrawsHaveTheirPhase(t *testing.T) {
	s := phasedSimulation()
	var got []lockstep.Draw
	s.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { got = append(got, d) })
	for tick := range lockstep.Tick(2) {
		if err := s.Step(&lockstep.Frame{Tick: tick + 1}); err != nil {
			t.Fatal(err)
		}
	}
	want := []lockstep.Draw{{"start", 0, ""}, {"weather", 1, "clock"}, {"damage", 7, "combat"}}
	if !slices.Equal(got, append(want, want...)) {
		t.Errorf("got %v, want %v twice", got, want)
	}
}
