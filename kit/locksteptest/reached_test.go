package locksteptest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// runners are bots that only run.
func runners(lockstep.Player, *lockstep.Simulation) []any { return []any{&run{Steps: 1}} }

// raceTo returns a race that ends after some ticks, by its rules.
func raceTo(end lockstep.Tick) *lockstep.Game {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == end {
			turn.End(&giveUp{})
		}
	}
	return lockstep.MustGame(rules)
}

// Without a length in the options, a match of bots lasts as long as a match of bots alone, and one of random commands 200 ticks.
func TestLengthIsMeasured(t *testing.T) {
	only := map[string]int{"give up": 0}
	for _, row := range []struct {
		end, length lockstep.Tick
		o           locksteptest.Options
		golden      int
	}{
		{350, 350, locksteptest.Options{Play: runners, Weights: only}, 350},
		{5000, 1000, locksteptest.Options{Play: runners, Weights: only}, 1000},
		{30, 30, locksteptest.Options{Play: runners, Weights: only}, 30}, // a game of short matches is not one that ends early
		{5000, 200, locksteptest.Options{Weights: only}, 200},
		{5000, 1500, locksteptest.Options{Play: runners, Weights: only, Ticks: 1500}, 1500},
	} {
		g := raceTo(row.end)
		if n, err := locksteptest.Length(g, row.o); n != row.length || err != nil {
			t.Errorf("end %d: got %d ticks, %v, want %d", row.end, n, err, row.length)
		}
		if _, err := locksteptest.Run(g, row.o); err != nil {
			t.Errorf("end %d: %v", row.end, err)
		}
		r, err := locksteptest.AddGolden(g, locksteptest.GoldenOptions{Dir: t.TempDir(), Play: row.o.Play, Weights: row.o.Weights, Ticks: row.o.Ticks})
		if err != nil || r.Reached.Ticks != row.golden {
			t.Errorf("end %d: golden: got %+v, %v", row.end, r.Reached, err)
		}
	}
	if _, err := locksteptest.Length(raceTo(1), locksteptest.Options{Weights: map[string]int{"fly": 1}}); err == nil {
		t.Error("got no error for an unknown kind")
	}
}

// A search of a game with long matches plays some of them in full length.
func TestSearchPlaysWholeMatches(t *testing.T) {
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Skip: locksteptest.PhaseNames(), Players: 1}
	_, r, err := locksteptest.Search(t.Context(), raceTo(3000), o, locksteptest.SearchOptions{Matches: 64, Bots: bots})
	if err != nil || r.Longest != 3000 || r.Matches != 64 || r.Ticks > 64*1000 {
		t.Errorf("got %v, %v, want a match of 3000 ticks", r, err)
	}
}

// In a search of a game in which a match of two ends when a player leaves, some matches of bots last.
func TestSearchKeepsPlayers(t *testing.T) {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		step(w, c, turn)
		for _, c := range turn.Commands {
			if _, left := c.Value.(*lockstep.Left); left || turn.Tick == 900 {
				turn.End(&giveUp{})
				return
			}
		}
	}
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Skip: locksteptest.PhaseNames(), Players: 2}
	_, r, err := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 8, Bots: bots})
	o.Changes = 2 // the default, in each match
	_, less, errLess := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 8, Bots: bots})
	if err != nil || errLess != nil || r.Longest < 400 || r.Ticks <= less.Ticks {
		t.Errorf("got %v, %v, want a match of at least 400 ticks, and more ticks than %v, %v", r, err, less, errLess)
	}
}

// Each number of the floor is asked for, and can be given up.
func TestFloor(t *testing.T) {
	g := lockstep.MustGame(raceRules(false))
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 60}
	for want, floor := range map[string]locksteptest.Floor{
		"got a match of 60 ticks, want 61": {Ticks: 61}, "2 of 3 fields of the state changed, want 67 %: not Over": {Fields: 67},
	} {
		o.Floor = floor
		if _, err := locksteptest.Run(g, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "let more players play, play longer (Ticks: 300) if the rules do not end the match before, ask for less (Floor)") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	o.Floor = locksteptest.Floor{Kinds: 100}
	if _, err := locksteptest.Run(g, o); err != nil {
		t.Errorf("the excluded kind counts: %v", err)
	}
	o.Play = runners
	o.Weights = map[string]int{"give up": 1, "run": 0}
	o.Rate, o.Seed = 1, 3
	rules := raceRules(false)
	rules.Validate = func(_ *race, _ *struct{}, c *lockstep.Command) error {
		if c.Kind == 2 {
			return errors.New("never")
		}
		return nil
	}
	refusing := lockstep.MustGame(rules)
	o.Floor = locksteptest.Floor{Kinds: 1}
	if _, err := locksteptest.Run(refusing, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "commands of 0 of 1 kind were accepted, want 1 %: not give up") {
		t.Errorf("got %v", err)
	}
	o.Weights, o.Floor = nil, locksteptest.Floor{}
	if _, err := locksteptest.Run(refusing, o); err != nil {
		t.Errorf("a match alone: %v", err)
	}
	if err := locksteptest.Thin(refusing, o, nil); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "commands of 1 of 2 kinds were accepted, want 60 %: not give up") {
		t.Errorf("together: got %v", err)
	}
	o.Floor = locksteptest.Floor{Kinds: -1, Fields: -1, Ticks: -1}
	if err := locksteptest.Thin(refusing, o, nil); err != nil {
		t.Errorf("nothing is asked for: %v", err)
	}
	idle := locksteptest.Options{Weights: map[string]int{"give up": 0, "run": 0}, Play: func(lockstep.Player, *lockstep.Simulation) []any { return nil }, Ticks: 60}
	if _, err := locksteptest.Run(g, idle); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "no command was accepted") {
		t.Errorf("bots that do nothing: got %v", err)
	}
}

// The cure fits the cause: the kind that ends the match, the one that the rules refuse, or more ticks.
func TestThinCure(t *testing.T) {
	slow := raceRules(false)
	slow.Validate = func(w *race, _ *struct{}, c *lockstep.Command) error {
		if w.Tick < 190 && c.Kind == 1 {
			return errors.New("not before tick 190")
		}
		return nil
	}
	slow.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) {
		w.Tick++
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*run); ok {
				w.At[turn.Commands[i].Player]++
			}
		}
	}
	_, err := locksteptest.Run(lockstep.MustGame(slow), locksteptest.Options{Weights: map[string]int{"run": 30}})
	want := `give commands "run" that the rules accept (Play), play until they do (Ticks: 1000), or exclude the kind (Weights: map[string]int{"run": 0})`
	if !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	slow.Validate = nil
	slow.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) { w.Tick++ }
	_, err = locksteptest.Run(lockstep.MustGame(slow), locksteptest.Options{})
	if want := "give commands that change something (Play), or play until they do (Ticks: 1000)"; !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func ExampleReached() {
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Players: 2, Weights: map[string]int{"give up": 0}}
	found, reached, err := locksteptest.Search(context.Background(), raceTo(40), o, locksteptest.SearchOptions{Matches: 16, Bots: bots})
	fmt.Println(found, err)
	fmt.Println(reached.Matches, reached.Longest, reached.Fields, reached.Still)
	var runs locksteptest.Accepted = reached.Accepted[0]
	fmt.Println(runs.Kind, runs.N > 100)
	// Output:
	// <nil> <nil>
	// 16 40 3 [Over]
	// run true
}

func ExampleFloor() {
	o := locksteptest.Options{Ticks: 60, Weights: map[string]int{"give up": 0}, Floor: locksteptest.Floor{Fields: 100}}
	_, err := locksteptest.Run(raceTo(90), o)
	text, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println(text)
	// Output:
	// locksteptest: the match proves too little: 2 of 3 fields of the state changed, want 100 %: not Over
}

func ExampleLength() {
	fmt.Println(locksteptest.Length(raceTo(90), locksteptest.Options{Play: runners}))
	// Output:
	// 90 <nil>
}

func ExampleGoldenResult() {
	_, err := locksteptest.CheckGolden(raceTo(90), locksteptest.GoldenOptions{Dir: "none"})
	fmt.Println(errors.Is(err, locksteptest.ErrNoGolden), slices.Contains([]error{err}, nil))
	// Output:
	// true false
}

// A match that fails counts up to where it failed.
func TestSearchCountsFailure(t *testing.T) {
	rules := raceRules(false)
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == 61 && !w.Over {
			panic("at 61")
		}
	}
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 100, AllowThin: "it panics"}
	found, r, err := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 20})
	if err != nil || found == nil || found.Tick != 61 || r.Longest != 60 || r.Accepted[0].N == 0 || r.Fields-len(r.Still) < 2 {
		t.Errorf("got %v, %v, %v, want a failure at tick 61, and 60 ticks that were played", found, r, err)
	}
}

// The matches of a search must reach the floor, not only those that are played before it.
func TestSearchFloor(t *testing.T) {
	rules := raceRules(false)
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == 60 {
			w.Over = true
		}
	}
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 60, Seed: 1, Floor: locksteptest.Floor{Fields: 100}}
	g := lockstep.MustGame(rules)
	if err := locksteptest.Thin(g, o, nil); err != nil {
		t.Fatal(err)
	}
	short := 0
	for o.Seed < 25 {
		_, r, err := locksteptest.Search(t.Context(), g, o, locksteptest.SearchOptions{Matches: 1})
		if thin := len(r.Still) > 0; thin != errors.Is(err, locksteptest.ErrThin) {
			t.Errorf("seed %d: got %v, %v", o.Seed, r, err)
		} else if thin {
			short++
		}
		o.Seed++
	}
	if short == 0 || short == 24 {
		t.Errorf("%d of 24 matches reached too little", short)
	}
}
