package coordinator_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match continues from the remaining part of its log.
func ExampleRecovery() {
	var log testgame.Records
	game, c := testgame.NewLamps(&log, coordinator.Options{})
	testgame.Ticks(c, 5)

	var r *coordinator.Recovery = coordinator.NewRecovery(game)
	var dec record.Decoder
	for _, b := range log {
		rec, _, err := dec.Decode(b)
		if err == nil {
			err = r.Apply(rec)
		}
		if err != nil {
			panic(err)
		}
	}
	c, err := r.Coordinator(&dec, &log, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	testgame.Ticks(c, 1)
	fmt.Println("tick", c.Now(), "player 1 is present:", c.Seated(1))
	// Output: tick 6 player 1 is present: true
}

// With a referee, a checked tick has its agreed checksum as soon as it is sealed.
func ExampleCheck() {
	_, c := testgame.NewLamps(testgame.Discard{}, coordinator.Options{})
	testgame.Ticks(c, 2)
	var k coordinator.Check
	k, ok := c.Check(2)
	var status coordinator.CheckStatus = k.Status
	fmt.Println(ok, status == coordinator.CheckAgreed, k.Hash == c.Referee().Simulation().Hash())

	_, reported := c.Reported(2, 0)
	fmt.Println("player 0 has reported:", reported)
	// Output:
	// true true true
	// player 0 has reported: false
}
