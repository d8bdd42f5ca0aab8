package locksteptest_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A field that is tagged as derived is in no snapshot. If the rules depend on it, a machine that joins late computes
// another match.
func ExampleRun() {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		if w.Cache++; w.Cache == 30 {
			w.Herds[5].Tame = true
		}
	}
	_, err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{Config: &pastureConfig{Herds: 6}, Ticks: 40, Every: 20})
	fmt.Println(err)

	var f *locksteptest.Failure
	if errors.As(err, &f) {
		fmt.Println(f.Phase, f.From, f.Tick, f.Field)
	}
	// Output:
	// locksteptest: cold twin of tick 29: tick 30: derived data is stale: a restored copy computes Herds[5].Tame: got false, want true, from the derived field Cache: got 0, want 29
	// cold twin 29 30 Herds[5].Tame
}

// A written match is checked in the same way as a random one.
func ExampleOrder() {
	rules := pastureRules()
	rules.Describe = func(c *lockstep.Command) string {
		return [...]string{"north", "south"}[c.Value.(*breed).Herd] // panics for most herds
	}
	_, err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{
		Config: &pastureConfig{Herds: 6}, Ticks: 10,
		Orders: []locksteptest.Order{
			{Tick: 1, Player: 0, Value: &breed{Herd: 1, Name: "ox"}},
			{Tick: 3, Player: 2, Value: &breed{Herd: 5, Name: "ox"}},
		},
	})
	fmt.Println(err)
	// Output:
	// locksteptest: round trip: tick 4: command 1 of player 2, kind 2: lockstep: tick 4: the game panicked in Describe: runtime error: index out of range [5] with length 2
}

// A search plays random matches until one fails, shrinks that match, and writes the result as a Go test.
func ExampleSearch() {
	game := lockstep.MustGame(greedyRules())
	found, matches, err := locksteptest.Search(context.Background(), game, locksteptest.Options{Config: &pastureConfig{Herds: 6}, Ticks: 60},
		locksteptest.SearchOptions{Matches: 100})
	if found == nil {
		fmt.Println(matches, err)
		return
	}
	small := found.Shrink(locksteptest.ShrinkOptions{Runs: 5000})
	fmt.Println(small)
	err = small.WriteTest(os.Stdout, locksteptest.Source{
		Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest",
		Game: "lockstep.MustGame(greedyRules())",
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// locksteptest: cold twin of tick 2: tick 3: derived data is stale: a restored copy computes Herds[0].Size: got 1, want 0, from the derived field Cache: got 0, want 1
	// package locksteptest_test
	//
	// import (
	// 	"testing"
	//
	// 	"github.com/seed-49bee653/samestep/kit/locksteptest"
	// 	"github.com/seed-49bee653/samestep/lockstep"
	// )
	//
	// // Found by playing random matches: locksteptest: cold twin of tick 2: tick 3: derived data is stale: a restored copy computes Herds[0].Size: got 1, want 0, from the derived field Cache: got 0, want 1
	// func TestFound0c8ef910(t *testing.T) {
	// 	locksteptest.Check(t, lockstep.MustGame(greedyRules()), locksteptest.Options{
	// 		Config:  &pastureConfig{Herds: 4},
	// 		Players: 1, Ticks: 3, Every: 2, Span: 3, Redo: 8, Seed: 1,
	// 		Orders: []locksteptest.Order{
	// 			{Tick: 1, Player: 0, Kind: 2, Value: &breed{Herd: 3, Name: "s"}},
	// 			{Tick: 2, Player: 0, Kind: 2, Value: &breed{Herd: 3, Name: "s"}},
	// 		},
	// 	})
	// }
}

// A command that ends the match leaves too little to check.
func ExampleThin() {
	rules := raceRules(true)
	fmt.Println(errors.Is(locksteptest.Thin(lockstep.MustGame(rules), locksteptest.Options{}, nil), locksteptest.ErrThin))
	running := locksteptest.Options{Weights: map[string]int{"give up": 0}}
	fmt.Println(locksteptest.Thin(lockstep.MustGame(rules), running, nil))
	// Output:
	// true
	// <nil>
}
