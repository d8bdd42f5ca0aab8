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
			r, err := Compile(a.bytes(), Options{Time: 3 * time.Second, Passes: math.MaxInt64})
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
			time.Sleep(100 * time.Millisecond)
			runtime.GC()
			select {
			case err := <-ended:
				t.Fatalf("got %v before the garbage was collected, want it to run meanwhile", err)
			default:
			}
			err = <-ended
			if fault := (*abi.Fault)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Text, "took longer") {
				t.Errorf("got %v, want a fault for the time", err)
			}
		})
	}
}
