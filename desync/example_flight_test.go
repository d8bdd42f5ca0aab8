//go:build !js

package desync_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The machines' records of the last ticks say where one parted from the others, and which of them do not count.
func ExampleFlight() {
	f := &desync.Flight{
		Machines: []desync.Departure{{
			Player: 1, First: desync.Span{From: 253, To: 253}, Sections: []string{"Units", "Random"}, Computed: true,
			Draws:    &desync.OtherDrawing{Tick: 253, Phase: "combat", Stream: "damage", Wrong: 3, Right: 2},
			Machines: []lockstep.Player{2, lockstep.System}, Grade: desync.GradeProven,
		}},
		Records: []desync.FlightRecord{
			{Player: lockstep.System, From: 1, To: 300}, {Player: 1, From: 1, To: 302}, {Player: 2, From: 1, To: 303},
			{Player: 3, Aside: "it is of another match"},
		},
	}
	for _, line := range f.Lines() {
		fmt.Println(line)
	}
	// Output:
	// the run of player 1 parted from this program's, player 2's and the referee's in tick 253, in Units and 1 other section: proven, by the records of two machines
	// it drew 3 times from damage in tick 253, phase combat, and not 2 times
	// the record of player 3 does not count: it is of another match
}
