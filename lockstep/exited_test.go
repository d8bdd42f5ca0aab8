package lockstep_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Rules that end the goroutine of the match panic: else whoever waits for the tick would wait for ever.
func TestRulesThatEndTheGoroutine(t *testing.T) {
	rules := testgame.LampRules
	rules.Step = func(*testgame.Lamps, *testgame.Nobody, *lockstep.Turn) { runtime.Goexit() }
	sim := newLamps(lockstep.MustGame(rules))
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		t.Errorf("Step came back: %v", sim.Step(&lockstep.Frame{Tick: 1}))
	}()
	fault, _ := (<-done).(*lockstep.PanicError)
	if fault == nil || fault.Where != "Step" || fault.Tick != 1 || !strings.Contains(fault.Error(), "runtime.Goexit") || len(fault.Stack) == 0 {
		t.Errorf("got the panic %v", fault)
	}
	if err := sim.Step(&lockstep.Frame{Tick: 1}); !errors.Is(err, fault) {
		t.Errorf("then: got %v", err)
	}
}
