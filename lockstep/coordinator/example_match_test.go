package coordinator_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A bad command gets a reason, and the match continues.
func ExampleCoordinator_Submit() {
	game, c := testgame.NewLamps(record.Tee(), coordinator.Options{InputDelay: 3})
	testgame.Ticks(c, 1)
	kind, payload, err := game.NewPayloads().Encode(&testgame.Press{Lamp: 9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Submit(0, 1, kind, payload))
	fmt.Println(c.Submit(0, 2, 77, payload))
	fmt.Println(c.Submit(0, 3, kind, nil))

	var receipt lockstep.Receipt = c.Submit(9, 1, kind, payload)
	var rejected *lockstep.RejectedError
	var reason lockstep.Reason = receipt.Reason
	fmt.Println(errors.As(receipt.Err(), &rejected), reason == lockstep.NotSeated, rejected)
	// Output:
	// rejected: refused: there are four lamps
	// rejected: unknown kind: got 77
	// rejected: malformed payload: press: state: malformed Lamp at byte 0: unexpected EOF: 0 bytes, want 1
	// true true lockstep: command 1 rejected: the player has no seat
}

// The coordinator logs its decisions, too: they reach the simulation as commands of System.
func ExampleSystem() {
	rules := testgame.LampRules
	rules.Step = func(w *testgame.Lamps, _ *testgame.Nobody, turn *lockstep.Turn) {
		for _, c := range turn.Commands {
			switch m := c.Value.(type) {
			case *lockstep.Joined, *lockstep.Left, *lockstep.Lost, *lockstep.TakenOver, *lockstep.Paused, *lockstep.Resumed:
				fmt.Printf("tick %d: %T %v\n", turn.Tick, m, m)
			case *lockstep.SpeedSet:
				fmt.Printf("tick %d: %d percent\n", turn.Tick, m.Percent)
			case *lockstep.InputDelaySet:
				fmt.Printf("tick %d: %d ticks\n", turn.Tick, m.Ticks)
			}
		}
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := coordinator.New(game, header, record.Tee(), coordinator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Join(0)
	testgame.Ticks(c, 1)
	c.Lose(0)
	c.TakeOver(0)
	c.SetInputDelay(4)
	c.SetSpeed(200)
	testgame.Ticks(c, 1)
	c.Leave(0)
	testgame.Ticks(c, 1)
	// Output:
	// tick 1: *record.Joined &{0}
	// tick 2: *record.Lost &{0}
	// tick 2: *record.TakenOver &{0}
	// tick 2: 4 ticks
	// tick 2: 200 percent
	// tick 3: *record.Left &{0}
}

// Only the machine whose state is wrong is told so. The report lists the checksum of each participant.
func ExampleCoordinator_Report() {
	_, c := testgame.NewLamps(record.Tee(), coordinator.Options{})
	testgame.Ticks(c, 4)
	right, _ := c.Referee().Sum(2)
	fmt.Println(c.Report(0, 2, right))
	wrong := right.Clone()
	wrong.Hash, wrong.Sections[1] = 1, 1
	fmt.Println(c.Report(1, 2, &wrong))
	var r *coordinator.DesyncReport
	for _, r = range c.Desyncs() {
		fmt.Println(r)
		for _, g := range r.Groups {
			var group coordinator.Reporters = g
			fmt.Println("  players", group.Players, "referee", group.Referee)
		}
	}
	fmt.Println(c.Report(1, 9, &checksum.Sum{}))
	// Output:
	// <nil>
	// <nil>
	// desync at tick 2: player 1 differs in Presses, last agreed at tick 0
	//   players [0] referee true
	//   players [1] referee false
	// lockstep: checksum report refused: player 1, tick 9: want a multiple of 2
}

// A late joiner gets the latest keyframe and the records after it.
func ExampleTail() {
	var tail record.Tail
	game, c := testgame.NewLamps(&tail, coordinator.Options{})
	testgame.Ticks(c, 7)
	late := game.NewFollower(lockstep.FollowerOptions{})
	err := tail.Join(late)
	fmt.Println(late.Tick(), err, late.Simulation().Hash() == c.Referee().Simulation().Hash())
	// Output: 7 <nil> true
}

// Two followers that keep their states can be compared to the field.
func ExampleDiverged() {
	keep := lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 8, EveryTick: true, States: true}}
	var log lockstep.Log
	good := lockstep.MustGame(testgame.LampRules).NewFollower(keep)
	rules := testgame.LampRules
	rules.Step = func(w *testgame.Lamps, _ *testgame.Nobody, turn *lockstep.Turn) {
		testgame.LampRules.Step(w, nil, turn)
		if turn.Tick == 3 {
			w.On[2] = true // only here
		}
	}
	bad := lockstep.MustGame(rules).NewFollower(keep)
	log = record.Tee(good, testgame.LogFunc(func(record []byte) {
		err := bad.Append(record)
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) {
			fmt.Println("desync at tick", desync.Tick)
		}
	}))
	_, c := testgame.NewLamps(log, coordinator.Options{})
	testgame.Ticks(c, 5)
	var d lockstep.Divergence
	d, _ = lockstep.Diverged(good, bad, 10)
	fmt.Println(d.Tick, d.Agreed, d.Section, d.Fields.List)
	// Output:
	// desync at tick 4
	// desync at tick 4
	// 3 2 On [On[2]: false != true]
}
