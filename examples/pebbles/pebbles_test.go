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
	"github.com/seed-49bee653/samestep/lockstep/twin"
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

// The heavy mode finds that variable in the live match, because its twins begin with none, and nothing in the rules without it.
func TestHeavy(t *testing.T) {
	for _, c := range []struct {
		flags []string
		ticks lockstep.Tick
	}{{nil, 400}, {[]string{"-DPLANTED"}, 2000}} {
		var found *twin.Difference
		var n twin.Count
		g := build(t, c.flags...)
		h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(3), options(t, g).Config)
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		f := g.NewFollowerAt(h, sim, lockstep.FollowerOptions{Heavy: twin.Options{Percent: 100, Count: &n, Found: func(d *twin.Difference) { found = d }}})
		for f.Tick() < c.ticks && found == nil {
			if err := f.Advance(&lockstep.Frame{Tick: f.Tick() + 1}); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case c.flags == nil && (found != nil || n.Twins < 20):
			t.Errorf("without it: got %v with %d twins", found, n.Twins)
		case c.flags != nil && (found == nil || found.Path != "Piles[0]" || found.Tick%40 != 0 || found.Unfixed):
			t.Errorf("got %v, want Piles[0] at a 40th tick", found)
		}
	}
}
