package locksteptest_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// A field that is tagged as derived is in no snapshot. If it decides something,
// a machine that joins late computes another match.
func ExampleRun() {
	rules := pastureRules()
	rules.Step = func(w *pasture, turn *lockstep.Turn) {
		stepPasture(w, turn)
		if w.Cache++; w.Cache == 30 {
			w.Herds[5].Tame = true
		}
	}
	err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{Config: &pastureConfig{Herds: 6}, Ticks: 40, Every: 20})
	fmt.Println(err)

	var f *locksteptest.Failure
	if errors.As(err, &f) {
		fmt.Println(f.Phase, f.From, f.Tick, f.Field)
	}
	// Output:
	// locksteptest: restore of tick 20: tick 30: Herds[5].Tame: got false, want true
	// restore 20 30 Herds[5].Tame
}

// A match that was written down is checked as well as a random one.
func ExampleOrder() {
	rules := pastureRules()
	rules.Describe = func(c *lockstep.Command) string {
		return [...]string{"north", "south"}[c.Value.(*breed).Herd] // panics for most herds
	}
	err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{
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
