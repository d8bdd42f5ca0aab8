//go:build !js

package module

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

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
