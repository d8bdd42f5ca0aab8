//go:build !js

package module

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// branchy writes a random function in the form of Go's compiler: a table of jumps between parts. It computes with variables, with its
// frame and with addresses, and ends when local variable 2 has counted down.
type branchy struct {
	*rand.Rand
	parts int
	out   []byte
}

func (b *branchy) add(parts ...[]byte) { b.out = append(b.out, join(parts...)...) }

func accessOf(op, align byte, offset int) []byte {
	return binary.AppendUvarint([]byte{op, align}, uint64(offset))
}

func local(op byte, l int) []byte { return instructionOf(op, l) }

// frameSumOf is the address of a place in the frame, as Go's compiler writes it.
func frameSumOf(offset int) []byte {
	return join(local(opLocalGet, frame), []byte{opI64ExtendU}, i64(int64(offset)), []byte{0x7c, opI32WrapI64})
}

// work writes a statement.
func (b *branchy) work() {
	l, m, offset := 3+b.IntN(5), 3+b.IntN(5), 8*b.IntN(8)
	// An address below 60,000: Go's pointers are numbers of 64 bits.
	aim := join(local(opLocalGet, m), i64(0x7ff8), []byte{0x83}, local(opLocalSet, 8))
	at8 := join(local(opLocalGet, 8), []byte{opI32WrapI64})
	switch b.IntN(11) {
	case 0:
		b.add(local(opLocalGet, l), i64(int64(b.IntN(99))), []byte{0x7c}, local(opLocalGet, m), i64(31), []byte{0x7e, 0x7c}, local(opLocalSet, l))
	case 1:
		b.add(local(opLocalGet, frame), local(opLocalGet, l), accessOf(opI64Store, 3, offset))
	case 2:
		b.add(local(opLocalGet, frame), accessOf(opI64Load, 3, offset), local(opLocalSet, l))
	case 3:
		b.add(frameSumOf(offset+4), frameSumOf(offset), accessOf(0x35, 0, 0), i64(5), []byte{0x7c}, accessOf(0x3e, 0, 0))
	case 4:
		b.add(frameSumOf(8*b.IntN(4)), frameSumOf(8*b.IntN(4)), i32(int64(8+b.IntN(40))), []byte{opBulk, 10, 0, 0})
	case 5:
		b.add(aim, at8, accessOf(opI64Load, 3, 0), local(opLocalSet, l), at8, accessOf(0x35, 2, 16), local(opLocalSet, m))
	case 6:
		b.add(aim, at8, local(opLocalGet, l), accessOf(opI64Store, 3, 8), at8, frameSumOf(0), i32(24), []byte{opBulk, 10, 0, 0})
	case 7:
		b.add(local(opLocalGet, l), local(opLocalGet, m), []byte{0x54, opI32Eqz, opIf, blockWithoutResult}, local(opLocalGet, l), i64(1), []byte{0x7c}, local(opLocalSet, m), []byte{opEnd})
	case 8: // an address in one way only, and a variable that changes in one way only
		b.add(aim, local(opLocalGet, l), i64(2), []byte{0x83, opI64Eqz, opIf, blockWithoutResult},
			at8, accessOf(opI64Load, 3, 8), local(opLocalSet, l))
		if b.IntN(2) == 0 {
			b.add([]byte{opElse}, i64(512), local(opLocalSet, 8))
		}
		b.add([]byte{opEnd},
			at8, accessOf(opI64Load, 3, 24), local(opLocalSet, m))
	case 9:
		b.add(aim, at8, accessOf(opI64Load, 3, 8), local(opLocalSet, l), local(opLocalGet, l), i64(4), []byte{0x83, opI64Eqz, opIf, blockWithoutResult},
			i64(256), local(opLocalSet, 8), []byte{opElse, opEnd}, at8, accessOf(opI64Load, 3, 24), local(opLocalSet, m))
	case 10: // a loop that is none of jumps
		b.add(aim, at8, accessOf(opI64Load, 3, 0), local(opLocalSet, l), i64(3), local(opLocalSet, 9), []byte{opLoop, blockWithoutResult},
			at8, accessOf(opI64Load, 3, 16), local(opLocalSet, m), local(opLocalGet, 8), i64(8), []byte{0x7c}, local(opLocalSet, 8),
			local(opLocalGet, 9), i64(-1), []byte{0x7c}, local(opLocalTee, 9), []byte{opI64Eqz, opI32Eqz, opBrIf, 0, opEnd})
	}
}

// jump writes a jump to a part, from inside of some blocks of another.
func (b *branchy) jump(to, depth, part int) {
	b.add(i32(int64(to)), local(opLocalSet, counter), local(opBr, depth+b.parts-1-part))
}

// jumpIf writes a jump with a condition.
func (b *branchy) jumpIf(to, part int) {
	b.add(local(opLocalGet, 3+b.IntN(5)), i64(int64(1+b.IntN(7))), []byte{0x83, opI64Eqz, opIf, blockWithoutResult})
	b.jump(to, 1, part)
	b.add([]byte{opEnd})
}

// function returns the body, for parts of which some jump back and some forward.
func (b *branchy) function() []byte {
	b.add([]byte{3, 1, typeI32, 1, typeI32, 12, typeI64}) // frame, steps; numbers
	b.add(local(opGlobalGet, 0), local(opLocalSet, frame), i32(int64(50+b.IntN(200))), local(opLocalSet, 2))
	if b.IntN(4) > 0 {
		b.add(local(opLocalGet, frame), i32(96), []byte{opI32Sub}, local(opLocalTee, frame), []byte{opGlobalSet, 0}) // moved below
	}
	prologue := b.out
	b.out = nil
	b.add([]byte{opBlock, blockWithoutResult, opLoop, blockWithoutResult})
	for range b.parts {
		b.add([]byte{opBlock, blockWithoutResult})
	}
	b.add(local(opLocalGet, counter), binary.AppendUvarint([]byte{opBrTable}, uint64(b.parts-1)))
	for part := range b.parts {
		b.add(binary.AppendUvarint(nil, uint64(part)))
	}
	b.add([]byte{opEnd})
	for part := range b.parts {
		for range 1 + b.IntN(5) {
			b.work()
		}
		b.add(local(opLocalGet, 2), i32(1), []byte{opI32Sub}, local(opLocalTee, 2), []byte{opI32Eqz}, local(opBrIf, b.parts-part)) // out
		if b.IntN(3) == 0 && part+1 < b.parts {
			b.jumpIf(part+1, part)
			b.jump(b.IntN(b.parts), 0, part)
		} else {
			b.jumpIf(b.IntN(b.parts), part)
		}
		b.add([]byte{opEnd}) // of the next part's block, or of the loop
	}
	b.add([]byte{opEnd}) // of the block around the loop
	b.add(local(opLocalGet, 3))
	for l := 4; l < 8; l++ {
		b.add(i64(1000003), []byte{0x7e}, local(opLocalGet, l), []byte{0x7c})
	}
	for offset := 0; offset < 96; offset += 8 {
		b.add(i64(1000003), []byte{0x7e}, local(opLocalGet, frame), accessOf(opI64Load, 3, offset), []byte{0x7c})
	}
	b.add(local(opLocalGet, frame), []byte{opI64ExtendU, 0x7c, opI32WrapI64, opEnd})
	return append(prologue, b.out...)
}

// result runs a function of one parameter.
func result(t *testing.T, body []byte) uint64 {
	t.Helper()
	out := append([]byte(magic), section(sectionType, []byte{formFunction, 1, typeI32, 1, typeI32})...)
	out = append(out, section(sectionFunction, []byte{0})...)
	out = append(out, section(sectionMemory, []byte{0, 1})...)
	out = append(out, section(sectionGlobal, join([]byte{typeI32, 1}, i32(60_000), []byte{opEnd}))...)
	out = append(out, section(sectionExport, export("f", 0, 0))...)
	out = append(out, section(sectionCode, appendSized(nil, body))...)
	content := make([]byte, pageBytes)
	rand.NewChaCha8([32]byte{1}).Read(content)
	out = append(out, section(sectionData, join([]byte{0}, i32(0), []byte{opEnd}, appendSized(nil, content)))...)
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	m, err := r.Instantiate(ctx, out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.ExportedFunction("f").Call(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// A function that is straightened computes the same, whatever its parts jump to.
func TestStraighten(t *testing.T) {
	seeds := uint64(400)
	if testenv.Small(t) {
		seeds = 40
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		body := (&branchy{Rand: r, parts: 2 + r.IntN(10)}).function()
		straight := straighten(body, 1)
		if straight == nil {
			t.Fatalf("seed %d: the function is not known as one of Go's compiler", seed)
		}
		if got, want := result(t, straight), result(t, body); got != want {
			t.Errorf("seed %d: got %#x, want %#x", seed, got, want)
		}
	}
}

// A program of Go's compiler computes the same in its own form and in that of Faster, also where functions are left and go on:
// behind panics, in goroutines and where the stack grows.
func TestFlows(t *testing.T) {
	b, faster := buildFlows(t)
	before, after := flows(t, b), flows(t, faster)
	for n := range someFlows(t) {
		want, err := before.Call(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := after.Call(t.Context(), n)
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		if got[0] != want[0] {
			t.Errorf("%d: got %#x, want %#x", n, got[0], want[0])
		}
	}
}

// numFlows is the number of different inputs of the program.
const numFlows = uint64(17 * 8)

// someFlows returns how many of the inputs the tests use: all in .ci/run, and else two for each function of the program.
func someFlows(t *testing.T) uint64 {
	if testenv.Small(t) {
		return 17 * 2
	}
	return numFlows
}

// flowsBuilt is the program as Go's compiler writes it, and in the form of Faster.
var flowsBuilt = sync.OnceValues(func() (both [2][]byte, err error) {
	dir, err := os.MkdirTemp("", "flows-*")
	if err != nil {
		return both, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "flows.wasm")
	c := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-w", "-o", name, ".")
	c.Dir = filepath.Join("testdata", "flows")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		return both, fmt.Errorf("go build: %w\n%s", err, text)
	}
	built, err := os.ReadFile(name)
	if err == nil {
		both[0], err = FromGo(built)
	}
	if err != nil {
		return both, err
	}
	var ok bool
	if both[1], ok = Faster(both[0]); !ok {
		err = errors.New("no function has the form of Go's compiler")
	}
	return both, err
})

// buildFlows returns flowsBuilt.
func buildFlows(t *testing.T) (built, faster []byte) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs the go command")
	}
	both, err := flowsBuilt()
	if err != nil {
		t.Fatal(err)
	}
	return both[0], both[1]
}

// flows returns the function of the program in an instance.
func flows(t *testing.T, module []byte) api.Function {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(context.Background()) })
	m, err := r.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatal(err)
	}
	return m.ExportedFunction("_run")
}
