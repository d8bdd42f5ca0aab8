package module

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// times is a loop of n passes. It uses the first parameter.
func times(n int64) []byte {
	return join(i32(n), []byte{opLocalSet, 0, opLoop, blockWithoutResult, opLocalGet, 0}, i32(1), []byte{opI32Sub, opLocalTee, 0, opBrIf, 0, opEnd})
}

// A call ends after its passes, at the same one however the module runs, and each call has all of them.
func TestPasses(t *testing.T) {
	thrice := assembly{call: join([]byte{opCall, 3, opCall, 3, opCall, 3}, i64(0)), more: [][]byte{{opCall, 4}, {opNop}}}
	for n := range 13 {
		next := byte(n + 5) // each calls two
		thrice.more = append(thrice.more[:len(thrice.more)-1], []byte{opCall, next, opCall, next}, []byte{opNop})
	}
	for _, c := range []struct {
		name   string
		module assembly
		passes int64
		ends   bool
	}{
		{"loop", assembly{call: join(times(35_000), i64(0))}, 30_001, false},
		{"longer loop", assembly{call: join(times(35_000), i64(0))}, 30_000, true},
		{"endless loop", assembly{call: join(forever, i64(0))}, 100_000, true},
		{"endless loop in the buffer", assembly{buffer: join(forever, i32(0))}, 100_000, true},
		{"endless loop at the start", assembly{initialize: forever}, 100_000, true},
		{"buffer and call", assembly{buffer: join(times(6_000), i32(0)), call: join(times(6_000), i64(0))}, 10_000, true},
		{"calls", thrice, 20_001, false},
		{"more calls", thrice, 20_000, true},
		{"copies", assembly{memory: []byte{0, 0x80, 0x08}, call: join(i32(0), i32(0), i32(60<<20), []byte{opBulk, 10, 0, 0}, i64(0))}, 61_442, false},
		{"longer copies", assembly{memory: []byte{0, 0x80, 0x08}, call: join(i32(0), i32(0), i32(60<<20), []byte{opBulk, 10, 0, 0}, i64(0))}, 61_441, true},
	} {
		for _, interpret := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, interpreted %t", c.name, interpret), func(t *testing.T) {
				r, err := Compile(c.module.bytes(), Options{Passes: c.passes, Interpret: interpret})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				i, err := r.New()
				for n := 0; n < 3 && err == nil; n++ {
					_, err = i.Call(abi.Step, nil)
				}
				if !c.ends {
					if err != nil {
						t.Errorf("got %v, want no error", err)
					}
					return
				}
				want := fmt.Sprintf("the call did more than %d passes", c.passes)
				if fault := (*abi.Fault)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Text, want) {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		}
	}
}

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

// recursion is a module whose call enters function 3 and then, n times, a function that calls itself. It has a counter in variable 0.
func recursion(n int64, indirect bool, locals, code []byte) assembly {
	call := []byte{opCall, 3}
	a := assembly{variables: [][]byte{{typeI32, 1, opI32Const, 0, opEnd}}}
	if indirect {
		call = join(i32(0), []byte{opCallIndirect, 2, 0})
		a.tables = [][]byte{{referenceTypes[0], 0, 1}}
		a.exports = [][]byte{export("again", 0, 3)} // so that ref.func may name it
	}
	enter := []byte{opCall, 3}
	a.call = join(i32(n), []byte{opGlobalSet, 0}, enter, i64(0))
	if indirect {
		a.call = join(i32(0), []byte{opRefFunc, 3, opTableSet, 0}, a.call)
	}
	a.more = [][]byte{join(code, []byte{opGlobalGet, 0}, i32(1), []byte{opI32Sub, opGlobalSet, 0, opGlobalGet, 0, opIf, blockWithoutResult}, call, []byte{opEnd})}
	a.moreLocals = locals
	return a
}

// Calls go as deep as the limit, and no deeper, however the module runs: the last depth that is fine is the same for all.
func TestDepth(t *testing.T) {
	noDrop := bytes.Repeat([]byte{opNop}, 3*frameCode)
	for _, c := range []struct {
		name   string
		module func(n int64) assembly
		frame  int64 // how much each call counts
	}{
		{"calls", func(n int64) assembly { return recursion(n, false, nil, nil) }, 1},
		{"indirect calls", func(n int64) assembly { return recursion(n, true, nil, nil) }, 1},
		{"local variables", func(n int64) assembly {
			return recursion(n, false, join([]byte{1}, number(frameValues*4), []byte{typeI64}), nil)
		}, 5},
		{"operands", func(n int64) assembly {
			return recursion(n, false, nil, join(bytes.Repeat(i64(1), frameValues*2), bytes.Repeat([]byte{opDrop}, frameValues*2)))
		}, 3},
		{"code", func(n int64) assembly { return recursion(n, false, nil, noDrop) }, 4},
		{"the most local variables", func(n int64) assembly {
			return recursion(n, false, join([]byte{1}, number(maxValues-10), []byte{typeI64}), nil)
		}, 1 + maxValues/frameValues},
	} {
		most := (maxDepth-1)/c.frame + 1 // the first call of function 3 is that of samestep_call, which counts 1
		for _, interpret := range []bool{false, true} {
			for _, n := range []int64{most, most + 1, 1 << 30} {
				t.Run(fmt.Sprintf("%s, %d, interpreted %t", c.name, n, interpret), func(t *testing.T) {
					r, err := Compile(c.module(n).bytes(), Options{Interpret: interpret})
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					i, err := r.New()
					for again := 0; again < 2 && err == nil; again++ { // each call has the whole depth
						_, err = i.Call(abi.Step, nil)
					}
					fault := (*abi.Fault)(nil)
					if n <= most && err != nil || n > most && (!errors.As(err, &fault) || !fault.Limit || !strings.Contains(fault.Text, "deeper than 1900")) {
						t.Errorf("got %v", err)
					}
				})
			}
		}
	}
}

// The heights of the stack of operands, by each kind of instruction.
func TestHeight(t *testing.T) {
	two := functionType{[]byte{typeI64, typeI32}, []byte{typeI64, typeI64, typeI64}}
	for _, c := range []struct {
		name      string
		code      []byte
		most, end int
	}{
		{"nothing", nil, 0, 0},
		{"constants", join(i32(1), i64(2), []byte{opF32Const, 0, 0, 0, 0}), 3, 3},
		{"addition", join(i32(1), i32(2), []byte{opI32Add}), 2, 1},
		{"load and store", join(i32(1), i32(2), []byte{opI32Load, 2, 0, opI32Store, 2, 0}), 2, 0},
		{"block with a result", join([]byte{opBlock, typeI32}, i32(1), i32(1), []byte{opDrop, opEnd}), 2, 1},
		{"block without", join([]byte{opBlock, blockWithoutResult}, i32(1), []byte{opDrop, opEnd}), 1, 0},
		{"block with parameters", join(i64(1), i32(1), []byte{opBlock, 0, opDrop}, i64(1), i64(1), []byte{opEnd}), 3, 3},
		{"if and else", join(i32(1), []byte{opIf, typeI32}, i32(1), i32(1), []byte{opI32Add, opElse}, i32(1), i32(1), i32(1), []byte{opDrop, opDrop, opEnd}), 3, 1},
		{"what is never reached", join([]byte{opBlock, typeI64}, i64(1), i64(1), []byte{opBr, 0, opDrop, opDrop, opDrop, opEnd}), 2, 1},
		{"call", join(i64(1), i32(1), []byte{opCall, 0}), 3, 3},
		{"indirect call", join(i64(1), i32(1), i32(0), []byte{opCallIndirect, 0, 0}), 3, 3},
		{"memory", join([]byte{opMemorySize, 0, opMemoryGrow, 0, opDrop}, i32(0), i32(0), i32(0), []byte{opBulk, 11, 0}), 3, 0},
		{"tables", join(i32(0), []byte{opRefNull, referenceTypes[0], opTableSet, 0, opRefNull, referenceTypes[0]}, i32(0), []byte{opBulk, 15, 0}), 2, 1},
		{"select", join(i32(0), i32(0), i32(0), []byte{opSelect}), 3, 1},
		{"not valid", join([]byte{opDrop, opDrop, opEnd, opEnd, opElse}, i32(1)), 1, 1},
	} {
		h := height{types: []functionType{two}, functions: []functionType{two}}
		for _, i := range (&reader{rest: c.code}).instructions() {
			h.next(i)
		}
		if h.most != c.most || h.now != c.end {
			t.Errorf("%s: got %d at most and %d at the end, want %d and %d", c.name, h.most, h.now, c.most, c.end)
		}
	}
}
