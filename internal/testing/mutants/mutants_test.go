//go:build !js

package mutants_test

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/mutants"
)

var (
	kill  = flag.Bool("kill", false, "build the engine of each mutant and let the simulator find it, which takes minutes")
	only  = flag.String("only", "", "with -kill: those whose names match")
	seeds = flag.Int("seeds", 240, "with -kill: how many seeds each mutant has to survive, beside the corpus")
)

const root = "../../.."

// Every mutant still applies to the engine, and the result is Go.
func TestApply(t *testing.T) {
	names := map[string]bool{}
	hit := map[string]int{}
	for _, m := range mutants.All() {
		changed := apply(t, &m)
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, changed, 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if names[m.Name] {
			t.Errorf("%s: twice", m.Name)
		}
		names[m.Name] = true
		for _, invariant := range strings.Fields(m.Hits) {
			hit[invariant]++
		}
	}
	if len(names) < 30 {
		t.Errorf("got %d mutants, want 30", len(names))
	}
	for _, invariant := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "desync"} {
		if hit[invariant] == 0 {
			t.Errorf("no mutant breaks %s", invariant)
		}
	}
	for _, m := range []mutants.Mutant{{File: "go.mod", Old: "there is no such text"}, {File: "go.mod", Old: "\n"}} {
		if _, err := m.Apply([]byte("module x\n\ngo 1.26\n")); err == nil {
			t.Errorf("%q stands there once", m.Old)
		}
	}
}

func apply(t *testing.T, m *mutants.Mutant) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := m.Apply(source)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// The simulator finds every mutant, and nothing in the engine as it is.
func TestKilled(t *testing.T) {
	if !*kill {
		t.Skip("with -args -kill the simulator hunts every mutant, which takes minutes, as samestep simulate --mutants does")
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool { return !match.MatchString(m.Name) })
	h := mutants.Hunt{Root: root, Mutants: all, Seeds: *seeds, Found: func(d *mutants.Death) { t.Logf("%-70s %s", d.Mutant.Name, d) }}
	deaths, err := h.Run()
	if err != nil {
		t.Fatal(err)
	}
	toll := mutants.TollOf(deaths)
	for _, m := range toll.Alive {
		t.Errorf("%s: lives, and breaks %s", m.Name, m.Hits)
	}
	t.Log(toll)
}
