//go:build !js && !wasip1

package pebbles_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/module"
)

// compile compiles the rules.
func compile(t *testing.T, flags ...string) *module.Rules {
	t.Helper()
	for _, tool := range []string{"clang", "wasm-ld"} {
		_, err := exec.LookPath(tool)
		testenv.Or(t, tool, err)
	}
	file := filepath.Join(t.TempDir(), "pebbles.wasm")
	c := exec.CommandContext(t.Context(), "clang", append(flags,
		"--target=wasm32", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-builtin", "-nostdlib", "-Wl,--no-entry",
		"-I", "../../module", "-o", file, "c/pebbles.c")...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := module.Compile(b, module.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rules.Close() })
	return rules
}

// build returns the game of the rules.
func build(t *testing.T, flags ...string) *lockstep.Game {
	t.Helper()
	g, err := lockstep.NewGameElsewhere(compile(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func options(t *testing.T, g *lockstep.Game) locksteptest.Options {
	t.Helper()
	config, err := g.ReadConfig([]byte(`{"Piles": 6, "Pebbles": 200}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return locksteptest.Options{Config: config, Players: 3, Ticks: 200}
}

// Each way of computing a match gives the same, and the golden match is that of the sources.
func TestGoldenMatch(t *testing.T) {
	g := build(t)
	if _, err := locksteptest.Run(g, options(t, g)); err != nil {
		t.Error(err)
	}
	o := options(t, g)
	golden, err := locksteptest.CheckGolden(g, locksteptest.GoldenOptions{Dir: "testdata/golden", Config: o.Config, Players: o.Players})
	if err != nil || len(golden.Files) != 1 {
		t.Errorf("got the golden matches %+v, %v, want one", golden, err)
	}
}

// A variable that is in no state is found, with the field that it changes.
func TestMistakeIsFound(t *testing.T) {
	g := build(t, "-DPLANTED")
	_, err := locksteptest.Run(g, options(t, g))
	f := (*locksteptest.Failure)(nil)
	if !errors.As(err, &f) || !strings.HasPrefix(f.Field, "Piles[0]") {
		t.Errorf("got %v, want a failure in Piles[0]", err)
	}
}
