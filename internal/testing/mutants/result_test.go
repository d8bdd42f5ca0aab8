//go:build !js

package mutants

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The output and the exit of the simulator say how it found a mutant.
func TestReadResult(t *testing.T) {
	crash, other := error(&exec.ExitError{}), errors.New("no such program")
	for _, row := range []struct {
		name, out string
		ended     error
		late      bool
		want      string // the result, or the beginning of the error
	}{
		{"lives", "", nil, false, "ALIVE, breaks I2"},
		{"killed", "12 I2 told twice\n", nil, false, "I2 in run 12: told twice"},
		{"panics", "panic: nil map\ngoroutine 1", crash, false, "I10 in run 1: panic: nil map"},
		{"does not end", "", crash, true, "I10 in run 1: does not end"},
		{"no program", "", other, false, "error: no such program"},
		{"nonsense", "what?", nil, false, `error: got "what?"`},
		{"no number", "x I2 y", nil, false, `error: got "x I2 y"`},
		{"run 0", "0 I2 y", nil, false, `error: got "0 I2 y"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := Result{Mutant: &Mutant{Hits: "I2"}}
			got := ""
			if err := r.read(row.out, row.ended, row.late); err != nil {
				got = "error: " + err.Error()
			} else {
				got = r.String()
			}
			if !strings.HasPrefix(got, row.want) {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// A summary counts the killed and lists the survivors.
func TestSummary(t *testing.T) {
	a, b := &Mutant{Name: "a"}, &Mutant{Name: "b"}
	for _, row := range []struct {
		results []Result
		want    string
		alive   int
	}{
		{nil, "0 of 0 killed", 0},
		{[]Result{{Mutant: a}}, "0 of 1 killed", 1},
		{[]Result{{Mutant: a, Runs: 9}, {Mutant: a, Runs: 1}, {Mutant: b, Runs: 3}}, "3 of 3 killed, after 3 runs in the median, 9 at the most", 0},
		{[]Result{{Mutant: a, Runs: 1}, {Mutant: b}}, "1 of 2 killed, after 1 run in the median, 1 at the most", 1},
	} {
		s := Summarize(row.results)
		if got := s.String(); got != row.want || len(s.Alive) != row.alive {
			t.Errorf("got %s, and alive %v; want %s, and %d", got, s.Alive, row.want, row.alive)
		}
	}
}

// A hunt kills a mutant that every match meets, and finds nothing in the engine itself.
func TestHunt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the engine")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	all := All()
	at := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == "a command runs one tick later than its receipt says" })
	var found []string
	h := Hunt{
		Root: root, Mutants: all[at : at+1], Seeds: 1, corpus: "answer-that-a-crash-forgot",
		Found: func(r *Result) { found = append(found, r.Mutant.Name) },
	}
	results, err := h.Run()
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Runs == 0 || r.Invariant != "I2" || len(found) != 1 || found[0] != all[at].Name {
		t.Errorf("got %v, told of %v, want it killed by I2", &r, found)
	}
	h.Mutants = []Mutant{{Name: "nowhere", Func: all[at].Func, Rule: "nowhere() -> 0"}}
	if _, err := h.Run(); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got error %v of a rule that matches nothing", err)
	}
}

// Checkout finds the checkout of the go command, and no other.
func TestCheckout(t *testing.T) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	root, err := Checkout(".")
	if err != nil {
		t.Fatal(err)
	}
	if here, err := filepath.Abs("../../.."); err != nil || root != here {
		t.Errorf("got %s, want %s (%v)", root, here, err)
	}
	if root, err := Checkout(t.TempDir()); !errors.Is(err, errCheckout) {
		t.Errorf("got %q, %v in an empty folder", root, err)
	}
}
