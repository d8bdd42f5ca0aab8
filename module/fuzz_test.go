package module

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// seeds are modules that FuzzGuard begins with.
func seeds() [][]byte {
	all := [][]byte{
		assembly{}.with(sectionTable, []byte{1, 0x70, 1, 1, 9}),
		assembly{}.with(sectionElement, join([]byte{1, 1, 0, 2, 0, 1})),
		assembly{}.with(sectionGlobal, join([]byte{1, typeI64, 1}, i64(-5), []byte{opEnd})),
		assembly{}.with(sectionType, []byte{4, formFunction, 1, typeI32, 1, typeI32, formFunction, 2, typeI32, typeI32, 1, typeI64, formFunction, 0, 0, formFunction, 0, 2, 0x70, 0x6f}),
	}
	for _, a := range []assembly{
		{}, {call: join(forever, i64(0))}, {more: [][]byte{{opCall, 3}}}, {memory: []byte{1, 1, 2}},
		{sections: section(sectionData, join([]byte{0}, i32(8), []byte{opEnd, 2, 7, 7}))},
		{imports: join(appendSized(nil, []byte("wasi_snapshot_preview1")), appendSized(nil, []byte("fd_write")), []byte{0, 0})},
		{sections: appendSized([]byte{sectionCustom}, join(appendSized(nil, []byte("name")), []byte{1, 4, 1, 1, 1, 'f'}))},
		{locals: []byte{1, 2, 0x70}, call: join([]byte{opRefNull, 0x70, opRefNull, 0x70}, i32(0), []byte{0x1c, 1, 0x70, 0x1a}, i64(0))},
		{call: join(i32(0), i32(1), i32(9), []byte{opBulk, 11, 0, opBlock, typeI64}, i64(7), []byte{opEnd})},
		{call: join([]byte{opBlock, blockWithoutResult}, i32(0), []byte{opBrTable, 1, 0, 0, opEnd}, i64(0))},
		{call: join(i32(0), []byte{opF64Const, 0, 0, 0, 0, 0, 0, 0xf8, 0xff, opF64Store, 3, 0}, i64(8))},
	} {
		all = append(all, a.bytes())
	}
	return all
}

// called returns the answer of a call of a module, or its error. refused: it is not compiled.
func called(module []byte, interpret bool) (answer []byte, err error, refused bool) {
	r, err := Compile(module, Options{Interpret: interpret, Passes: 10 * pauseAfter})
	if err != nil {
		return nil, err, true
	}
	defer r.Close()
	i, err := r.New()
	if err != nil {
		return nil, err, false
	}
	b, err := i.Call(abi.Save, []byte("ping"))
	return bytes.Clone(b), err, false
}

// endless reports whether a call has ended after its passes.
func endless(err error) bool { return err != nil && strings.Contains(err.Error(), "did more than") }

// overflows reports whether a call has ended at the limit of its stack, which differs between machines.
func overflows(err error) bool {
	return err != nil && strings.Contains(err.Error(), said("stack overflow"))
}

// No bytes make the reading of a module panic. What guard accepts is compiled or refused, by both machines, and its calls end with
// the same answer.
func FuzzGuard(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if plain, err := FromGo(b); err == nil {
			Faster(plain)
		}
		slow, slowErr, slowRefused := called(b, true)
		fast, fastErr, fastRefused := called(b, false)
		if slowRefused != fastRefused {
			t.Fatalf("got %v interpreted and %v compiled, want both or none refused", slowErr, fastErr)
		}
		if slowErr == nil && fastErr == nil && !bytes.Equal(slow, fast) {
			t.Errorf("got the answer %x compiled, want %x", fast, slow)
		}
		if endless(slowErr) != endless(fastErr) && !overflows(slowErr) && !overflows(fastErr) {
			t.Errorf("got %v interpreted and %v compiled, want the same number of passes", slowErr, fastErr)
		}
		for _, err := range []error{slowErr, fastErr} {
			fault, refusal := (*abi.Fault)(nil), (*abi.Refusal)(nil)
			if err != nil && !slowRefused && !errors.As(err, &fault) && !errors.As(err, &refusal) {
				t.Errorf("got %v of type %T, want a fault or a refusal", err, err)
			}
		}
	})
}
