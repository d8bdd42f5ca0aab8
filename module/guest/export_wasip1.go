package guest

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
)

var exported abi.Caller

// buffers keep what the host writes and reads.
var input, output []byte

// Export makes this program the module of rules. It panics if the rules are wrong, as lockstep.MustGame does.
func Export[S, C any](rules lockstep.Rules[S, C], usual func(players int) C) {
	g, err := New(rules, usual)
	if err != nil {
		panic(err)
	}
	exported = g
}

//go:wasmexport samestep_buffer
func buffer(size uint32) unsafe.Pointer {
	input = slices.Grow(input[:0], int(max(size, 1)))[:max(size, 1)]
	return unsafe.Pointer(&input[0])
}

//go:wasmexport samestep_call
func call(f, size uint32) uint64 {
	out, err := exported.Call(abi.Function(f), input[:size])
	status := abi.OK
	if fault := (*abi.Fault)(nil); errors.As(err, &fault) {
		status, output = abi.Panicked, append(output[:0], fault.Text+"\n\n"+fault.Stack...)
		out = output
	} else if err != nil {
		status, output = abi.Refused, append(output[:0], err.Error()...)
		out = output
	}
	return uint64(status)<<62 | uint64(uintptr(unsafe.Pointer(unsafe.SliceData(out))))<<32 | uint64(len(out))
}
