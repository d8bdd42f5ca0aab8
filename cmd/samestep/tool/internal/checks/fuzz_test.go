//go:build !js

package checks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The test that fuzz writes is of the package in its folder, beside which go takes no other.
func TestTestPackageIn(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"", "main_test"} {
		if got := testPackageIn(dir); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for name, text := range map[string]string{"a_test.go": "package other_test\n", "b.go": "package main\n", "c.txt": "package text\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A failure that happens only once is not called a match without commands. It is printed even if its files cannot be written.
func TestUnreduced(t *testing.T) {
	t.Setenv("SAMESTEP_LINE", "off")
	rules := minimal.Rules()
	step, steps := rules.Step, 0
	rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
		step(w, config, turn)
		if steps++; steps == 50 {
			panic("once")
		}
	}
	game, err := gameset.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	var found *locksteptest.Failure
	if _, err := locksteptest.Run(game.Game, locksteptest.Options{Config: &minimal.Config{Size: 9, Coins: 3}}); !errors.As(err, &found) {
		t.Fatalf("the match does not fail: %v", err)
	}
	s := fuzzStory{Game: "minimal", Reached: &locksteptest.Reached{}, Found: explainFound(t.Context(), found, game, t.TempDir())}
	var text strings.Builder
	s.Print(&text)
	if want := "reduced    not: the failure did not happen again from a list of its commands"; !strings.Contains(text.String(), want) || strings.Contains(text.String(), "0 commands") {
		t.Errorf("got %s", text.String())
	}
	text.Reset()
	s.Found = explainFound(t.Context(), found, game, filepath.Join(t.TempDir(), "none"))
	if s.Print(&text); !strings.Contains(text.String(), "found      locksteptest: ") || !strings.Contains(text.String(), "files      not written: open ") {
		t.Errorf("in no folder: got %s", text.String())
	}
}

// hidden finds a match of a game with a fault.
func hidden(t *testing.T) (*locksteptest.Failure, *gameset.Playable) {
	t.Helper()
	game, err := gameset.New(planted.Rules("hidden"))
	if err != nil {
		t.Fatal(err)
	}
	game.Source = locksteptest.Source{
		Package: "planted_test", Path: console.Module + "/internal/testing/planted",
		Game: `lockstep.MustGame(planted.Rules("hidden"))`, Imports: []string{console.Module + "/internal/testing/planted"},
	}
	config := skirmish.Sized(2, 400)
	found, _, err := locksteptest.Search(t.Context(), game.Game, locksteptest.Options{Config: &config, Players: 2, Ticks: 100, AllowThin: "one fault is enough"}, locksteptest.SearchOptions{Matches: 50})
	if found == nil {
		t.Fatalf("nothing was found: %v", err)
	}
	return found, game
}

// The line of a failure is printed, and stands in the comment of the written test.
func TestFoundLine(t *testing.T) {
	testenv.Long(t)
	t.Setenv("SAMESTEP_LINE", "9m")
	found, game := hidden(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o644); err != nil { // the test is of its package, not of that of the rules
		t.Fatal(err)
	}
	f := explainFound(t.Context(), found, game, dir)
	if f.Line == nil || f.Line.Place() == nil {
		t.Fatalf("got no line: %s", f.NoLine)
	}
	place := f.Line.Place()
	test, err := os.ReadFile(f.Test)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("line %s:%d in %s", place.File, place.Line, place.Func); !tooltest.Says(strings.ReplaceAll(string(test), "//\t", ""), want) {
		t.Errorf("want %q in\n%s", want, test)
	}
	var text strings.Builder
	(&fuzzStory{Game: "skirmish", Reached: &locksteptest.Reached{}, Found: f}).Print(&text)
	if want := fmt.Sprintf("line %s:%d in %s %s", place.File, place.Line, place.Func, place.Source); !tooltest.Says(text.String(), want) {
		t.Errorf("got %s\nwant %q", text.String(), want)
	}
	source, err := os.ReadFile("../../../../../" + place.File)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(source), "\n"); strings.TrimSpace(lines[place.Line-1]) != place.Source || !strings.Contains(place.File, "internal/testing/planted/") {
		t.Errorf("got %+v, want a line of the planted fault", place)
	}
}

// Without the sources, the reason is printed.
func TestFoundNoLine(t *testing.T) {
	testenv.Long(t)
	t.Setenv("PATH", "")
	found, game := hidden(t)
	f := explainFound(t.Context(), found, game, t.TempDir())
	var text strings.Builder
	(&fuzzStory{Game: "skirmish", Reached: &locksteptest.Reached{}, Found: f}).Print(&text)
	if f.Line != nil || !strings.Contains(text.String(), "\nline       not known: ") || !strings.Contains(text.String(), "\ntest ") {
		t.Errorf("got %s", text.String())
	}
}
