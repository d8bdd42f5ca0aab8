//go:build !js && !wasip1

package tool

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// faultyMain is the program of a studio whose game has a fault.
func faultyMain() {
	Main(New(planted.Rules("hidden"), Bot(skirmish.NewPlayer), Config(skirmish.Usual), Units(skirmish.Sized), Source(locksteptest.Source{
		Package: "planted_test", Path: module + "/internal/testing/planted",
		Game: `lockstep.MustGame(planted.Rules("hidden"))`, Imports: []string{module + "/internal/testing/planted"},
	})))
}

// A match that proves too little names the options of Go code, and the flags too.
func TestThinHint(t *testing.T) {
	thin := fmt.Errorf("locksteptest: %w: give up: 9 of 9 refused", locksteptest.ErrThin)
	if err := thinHint(thin); !errors.Is(err, thin) || !strings.Contains(err.Error(), "--weight KIND=0") {
		t.Errorf("got %v, want the flags", err)
	}
	if err := thinHint(io.EOF); err != io.EOF {
		t.Errorf("got %v, want another error unchanged", err)
	}
}

// A failure that happens only once is not called a match without commands.
func TestUnreduced(t *testing.T) {
	rules := minimal.Rules()
	step, steps := rules.Step, 0
	rules.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
		step(w, config, turn)
		if steps++; steps == 50 {
			panic("once")
		}
	}
	game := New(rules).game
	var found *locksteptest.Failure
	if err := locksteptest.Run(game.Game, locksteptest.Options{Config: &minimal.Config{Size: 9, Coins: 3}}); !errors.As(err, &found) {
		t.Fatalf("the match does not fail: %v", err)
	}
	s := fuzzStory{Game: "minimal", Found: explainFound(found, game, t.TempDir())}
	var text strings.Builder
	s.print(&text)
	if want := "reduced    not: the failure did not happen again from a list of its commands"; !strings.Contains(text.String(), want) || strings.Contains(text.String(), "0 commands") {
		t.Errorf("got %s", text.String())
	}
}
