package coordinator_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// A distrustful player follows the match's log, and keeps its own state where
// that has another checksum.
type distrustful struct{ *lockstep.Follower }

func (d distrustful) Append(record []byte) error {
	var differs *lockstep.DesyncError
	if err := d.Follower.Append(record); !errors.As(err, &differs) {
		return err
	}
	return nil
}

// A bit of the referee's state flips. When the first player contradicts it, it
// computes the ticks since their last agreement again, and blames nobody.
func ExampleResimulation() {
	var frames []lockstep.Frame // a Host has them in its ring
	player := lockstep.MustGame(testgame.LampRules).NewFollower(lockstep.FollowerOptions{})
	_, c := testgame.NewLamps(distrustful{player}, coordinator.Options{
		Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}},
		Desync:  func(r *coordinator.DesyncReport) { fmt.Println(r) },
		Frames:  func(from, to lockstep.Tick) []lockstep.Frame { return frames[from:to] },
	})
	c.Join(0)
	for range 40 {
		f, err := c.Tick()
		if err != nil {
			panic(err)
		}
		frames = append(frames, lockstep.Frame{Tick: f.Tick, Commands: slices.Clone(f.Commands)})
		if f.Tick == 30 {
			lockstep.World[testgame.Lamps](c.Referee().Simulation()).On[2] = true // nobody has pressed it
		}
	}
	for _, t := range []lockstep.Tick{20, 40} {
		sum, _ := player.Sum(t)
		if err := c.Report(0, t, sum); err != nil {
			panic(err)
		}
	}
	fmt.Println("the lamp shines:", lockstep.World[testgame.Lamps](c.Referee().Simulation()).On[2])
	// Output:
	// desync at tick 40: player 0 differs in On, last agreed at tick 20; the referee was wrong
	// the lamp shines: false
}
