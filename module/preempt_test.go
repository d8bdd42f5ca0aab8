package module

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A module that never returns does not keep the program from collecting garbage, and so from running at all: the collector waits
// until all code has stopped at a safe point, and nothing else runs meanwhile, such as the timer that ends the call.
func TestGarbageIsCollectedMeanwhile(t *testing.T) {
	if browser {
		t.Skip("no clock interrupts a call in a browser")
	}
	twice := [][]byte{{opCall, 4, opCall, 4}}
	for len(twice) < 40 {
		next := byte(len(twice) + 4)
		twice = append(twice, []byte{opCall, next, opCall, next})
	}
	for name, a := range map[string]assembly{
		"loop":  {call: join(forever, i64(0))},
		"calls": {call: join([]byte{opCall, 3}, i64(0)), more: append(twice, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			// A busy machine needs more time. If the module were in the way, no time would be enough.
			for _, limit := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second} {
				if collectedMeanwhile(t, a, limit) {
					return
				}
			}
			t.Error("the calls ended before the garbage was collected, want it to be collected meanwhile")
		})
	}
}

// collectedMeanwhile reports whether garbage was collected while a module ran that ends after a time only.
func collectedMeanwhile(t *testing.T, a assembly, limit time.Duration) bool {
	t.Helper()
	r, err := Compile(a.bytes(), Options{Time: limit, Passes: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.New()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := i.Call(abi.Save, nil)
		ended <- err
	}()
	time.Sleep(limit / 10)
	runtime.GC()
	meanwhile := len(ended) == 0
	err = <-ended
	if fault := (*abi.Fault)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Text, "took longer") {
		t.Errorf("got %v, want a fault for the time", err)
	}
	return meanwhile
}
