package host_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// A client that has found a difference makes a bundle of it.
func ExampleTwinEvidence() {
	d := &twin.Difference{Tick: 262, Since: 260, Section: "Score", Before: []byte{1}, WarmState: []byte{2}, ColdState: []byte{3}}
	e := host.TwinEvidence(d, 1, []host.Participant{{Player: 1, Build: "7"}})
	for _, x := range e.Exhibits {
		fmt.Println(x.Tick, x.Referee, x.Player)
	}
	fmt.Println(e.Report.Player, e.Report.Section)
	// Output:
	// 260 [1] []
	// 262 [2] [3]
	// 1 Score
}
