//go:build !js

package mutants_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/mutants"
)

var (
	kill  = flag.Bool("kill", false, "build the engine of each mutant and let the simulator find it, which takes minutes")
	only  = flag.String("only", "", "with -kill: those whose names match")
	seeds = flag.Int("seeds", 240, "with -kill: how many seeds each mutant has to survive, beside the corpus")
)

const root = "../.."

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
	for _, invariant := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "desync"} {
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

// A death is how a mutant was found.
type death struct {
	name, want, invariant, text string
	runs                        int
}

// The simulator finds every mutant, and nothing in the engine as it is.
func TestKilled(t *testing.T) {
	if !*kill {
		t.Skip("with -args -kill the simulator hunts every mutant, which takes minutes")
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	var all []mutants.Mutant
	for _, m := range mutants.All() {
		if match.MatchString(m.Name) {
			all = append(all, m)
		}
	}
	if d := hunt(t, nil, min(*seeds, 8)); d.runs > 0 {
		t.Fatalf("the engine as it is: %+v", d)
	}
	deaths := make([]death, len(all))
	var wait sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wait.Go(func() {
			for i := range next {
				deaths[i] = hunt(t, &all[i], *seeds)
				t.Logf("%-70s %s", all[i].Name, &deaths[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wait.Wait()
	judge(t, deaths)
}

func (d *death) String() string {
	if d.runs == 0 {
		return "ALIVE, breaks " + d.want
	}
	return fmt.Sprintf("%s in run %d: %.100s", d.invariant, d.runs, d.text)
}

// judge fails for each mutant that lives, and tells how many runs it takes.
func judge(t *testing.T, deaths []death) {
	var needed []int
	for i := range deaths {
		if deaths[i].runs == 0 {
			t.Errorf("%s: lives, and breaks %s", deaths[i].name, deaths[i].want)
			continue
		}
		needed = append(needed, deaths[i].runs)
	}
	if len(needed) > 0 {
		slices.Sort(needed)
		t.Logf("%d of %d mutants killed, after %d runs in the median, %d at the most", len(needed), len(deaths), needed[len(needed)/2], needed[len(needed)-1])
	}
}

// A hunt that takes this long has found a match that does not come to its end.
const patience = 4 * time.Minute

// hunt builds the engine of a mutant, or as it is, and plays.
func hunt(t *testing.T, m *mutants.Mutant, seeds int) death {
	dir := t.TempDir()
	program := filepath.Join(dir, "hunt")
	build := exec.Command("go", "build", "-o", program, "./internal/mutants/hunt")
	build.Dir = root
	d := death{name: "none"}
	if m != nil {
		d.name, d.want = m.Name, m.Hits
		build.Args = slices.Insert(build.Args, 2, "-overlay", overlay(t, m, dir))
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", d.name, err, out)
		return d
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	corpus, err := filepath.Glob(root + "/internal/simulate/testdata/corpus/*.json")
	if err != nil || len(corpus) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	out, err := exec.CommandContext(ctx, program, append([]string{"-seeds", strconv.Itoa(seeds)}, corpus...)...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		d.runs, d.invariant, d.text = 1, "I10", "does not end"
	case errors.As(err, &exit):
		d.runs, d.invariant, d.text = 1, "I10", string(bytes.SplitN(out, []byte("\n"), 2)[0])
	case err != nil:
		t.Errorf("%s: %v", d.name, err)
	case len(out) > 0:
		runs, rest, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		d.invariant, d.text, _ = strings.Cut(rest, " ")
		d.runs, err = strconv.Atoi(runs)
		if err != nil {
			t.Errorf("%s: %q", d.name, out)
		}
	}
	return d
}

// overlay writes the changed file, and the go command's list of it.
func overlay(t *testing.T, m *mutants.Mutant, dir string) string {
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, apply(t, m), 0o600); err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(filepath.Join(root, m.File))
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
