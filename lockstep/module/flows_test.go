//go:build !js

package module

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A program of Go's compiler computes the same in its own form and in that of FromGo, also where functions are left and go on:
// behind panics, in goroutines and where the stack grows.
func TestFlows(t *testing.T) {
	b := buildFlows(t)
	s, err := withoutSystem(b)
	if err != nil {
		t.Fatal(err)
	}
	faster, err := FromGo(b)
	if err != nil {
		t.Fatal(err)
	}
	before, after := flows(t, s.append(nil)), flows(t, faster)
	for n := range numFlows {
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

// buildFlows returns the program as Go's compiler writes it.
func buildFlows(t *testing.T) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs the go command")
	}
	name := filepath.Join(t.TempDir(), "flows.wasm")
	c := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-w", "-o", name, ".")
	c.Dir = filepath.Join("testdata", "flows")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
