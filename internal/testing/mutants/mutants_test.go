//go:build !js

package mutants

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	kill  = flag.Bool("kill", false, "hunt every mutant, which takes minutes")
	only  = flag.String("only", "", "with -kill: only mutants whose names match")
	blind = flag.Bool("blind", false, "with -kill: do not begin with the match that is known to find the mutant")
	seeds = flag.Int("seeds", 240, "with -kill: seeds to play per mutant, after the corpus")
)

const root = "../../.."

// Every rule matches once in its function, and the result is Go.
func TestApply(t *testing.T) {
	names := map[string]bool{}
	hit := map[string]int{}
	e := newEngine(root)
	for _, m := range All() {
		if p, err := e.place(&m); err != nil {
			t.Error(err)
		} else if _, err := newFile(m.Name, p.edit.apply(p.file.source)); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if names[m.Name] {
			t.Errorf("%s: two mutants have this name", m.Name)
		}
		names[m.Name] = true
		for _, invariant := range strings.Fields(m.Hits) {
			hit[invariant]++
		}
	}
	if len(names) < 111 {
		t.Errorf("got %d mutants, want at least 111", len(names))
	}
	for _, invariant := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I19", "I20", "I21", "I22", "I23", "desync"} {
		if hit[invariant] == 0 {
			t.Errorf("no mutant breaks %s", invariant)
		}
	}
}

// The match that finds a mutant is played first, and the whole corpus, each file once. The engine itself plays all
// matches that find a mutant.
func TestMatches(t *testing.T) {
	h := Hunt{Root: root, Mutants: All()}
	for i := range h.Mutants {
		h.places = append(h.places, &place{Mutant: &h.Mutants[i]})
	}
	unknown, err := h.matches(&place{Mutant: &Mutant{}})
	if err != nil || len(unknown) < 50 || !slices.IsSorted(unknown) {
		t.Fatalf("without a known match: got %v, %v, want the corpus", unknown, err)
	}
	own, err := h.matches(&noMutant)
	if err != nil {
		t.Fatal(err)
	}
	seeds := 0
	for _, m := range h.places {
		got, err := h.matches(m)
		want := m.Match
		if isSeed(want) {
			seeds++
		} else {
			want = h.corpusFile(want)
		}
		if err != nil || m.Match != "" && (got[0] != want || !slices.Contains(own, want)) {
			t.Errorf("%s: begins with %v, %v, want %q, and so in the engine itself", m.Name, got[:1], err, want)
		}
		slices.Sort(got)
		if n := len(slices.Compact(slices.Clone(got))); n < len(unknown) || n < len(got) {
			t.Errorf("%s: %d matches, %d of them different, want the whole corpus and each once", m.Name, len(got), n)
		}
	}
	if seeds == 0 {
		t.Error("no mutant has a seed")
	}
	if got, err := h.matches(&place{Mutant: &Mutant{Match: "none"}}); !errors.Is(err, errList) {
		t.Errorf("a match that does not exist: got %v, %v", got, err)
	}
}

// A list with an unknown, repeated or missing field is an error.
func TestParse(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"good", "# one\n\nm\n  func p.f\n  rule a -> b\n  hits I1\n", ""},
		{"unknown", "m\n  fun p.f\n", `line 2: got "  fun p.f"`},
		{"twice", "m\n  func p.f\n  func p.g\n", "line 3"},
		{"no value", "m\n  func\n", "line 2"},
		{"no mutant", "  func p.f\n", "line 1"},
		{"no rule", "m\n  func p.f\n  hits I1\n", "m: want a func, a rule and hits"},
	} {
		_, err := Parse(row.text)
		if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, errList) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}

// The simulator finds every mutant, and nothing in the engine itself.
func TestKilled(t *testing.T) {
	if !*kill {
		t.Skip("-args -kill hunts every mutant, which takes minutes, as samestep simulate --mutants does")
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(All(), func(m Mutant) bool { return !match.MatchString(m.Name) })
	for i := range all {
		if *blind {
			all[i].Match = ""
		}
	}
	h := Hunt{Root: root, Mutants: all, Seeds: *seeds, Found: func(r *Result) { t.Logf("%-70s %s", r.Mutant.Name, r) }}
	results, err := h.Run()
	if err != nil {
		t.Fatal(err)
	}
	s := Summarize(results)
	for _, r := range s.Alive {
		t.Errorf("%s: lives, and breaks %s", r.Mutant.Name, r.Mutant.Hits)
	}
	t.Log(s)
}

// missingTests returns the tests of mutants that their package does not
// have. Such a mutant would survive.
func missingTests(t *testing.T, all []Mutant) (missing []string) {
	t.Helper()
	for _, m := range all {
		if m.Test == "" {
			continue
		}
		folder, names := m.tests()
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(b)
		}
		for name := range strings.SplitSeq(names, "|") {
			if !strings.Contains(source.String(), "\nfunc "+name+"(") {
				missing = append(missing, folder+"."+name)
			}
		}
	}
	return missing
}

func TestTestsOfMutants(t *testing.T) {
	if got := missingTests(t, All()); len(got) > 0 {
		t.Errorf("there is no %q", got)
	}
	planted := []Mutant{{Func: "lockstep/host.(*Host).tick", Test: "TestHostScripts|TestGone"}}
	if got := missingTests(t, planted); len(got) != 1 || got[0] != "lockstep/host.TestGone" {
		t.Errorf("control: got %q", got)
	}
}
