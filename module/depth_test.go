package module

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

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
