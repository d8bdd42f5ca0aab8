package coordinator_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// A distrustful player follows the match's log, and keeps its own state when a checksum differs.
type distrustful struct{ *lockstep.Follower }

func (d distrustful) Append(record []byte) error {
	var differs *lockstep.DesyncError
	if err := d.Follower.Append(record); !errors.As(err, &differs) {
		return err
	}
	return nil
}

// The frames of a match, by tick; a Host has them in its ring.
type frames []lockstep.Frame

// A bit of the referee's state flips. When the first player contradicts it, the referee re-simulates the ticks since
// their last agreement. No player is blamed.
func ExampleResimulation() {
	var kept frames
	player := lockstep.MustGame(testgame.LampRules).NewFollower(lockstep.FollowerOptions{})
	_, c := testgame.NewLamps(distrustful{player}, coordinator.Options{
		Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}},
		Frames:  func(from, to lockstep.Tick) []lockstep.Frame { return kept[from:to] },
	})
	c.Join(0)
	for range 40 {
		f, err := c.Tick()
		if err != nil {
			panic(err)
		}
		kept = append(kept, lockstep.Frame{Tick: f.Tick, Commands: slices.Clone(f.Commands)})
		if f.Tick == 30 {
			lockstep.World[testgame.Lamps](c.Referee().Simulation()).On[2] = true // without a command
		}
	}
	for _, t := range []lockstep.Tick{20, 40} {
		sum, _ := player.Sum(t)
		if err := c.Report(0, t, sum); err != nil {
			panic(err)
		}
	}
	for _, r := range c.Desyncs() {
		fmt.Println(r)
		var wrong coordinator.State
		for _, wrong = range r.Wrong {
			fmt.Printf("the referee's state of tick %d: %x\n", wrong.Tick, wrong.Bytes)
		}
	}
	fmt.Println("the lamp shines:", lockstep.World[testgame.Lamps](c.Referee().Simulation()).On[2])
	// Output:
	// desync at tick 40: player 0 differs in On, last agreed at tick 20; the referee has another result now, and takes it
	// the referee's state of tick 20: 000000000000000002
	// the referee's state of tick 40: 000001000000000002
	// the lamp shines: false
}
