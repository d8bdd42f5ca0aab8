package module

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
