package twin_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/twin"
)

func ExampleDifference() {
	var n twin.Count
	o := twin.Options{Percent: 10, Count: &n, Found: func(d *twin.Difference) { fmt.Println(d) }}
	o.Found(&twin.Difference{Tick: 262, Since: 260, Path: "Score", Warm: "40", Cold: "41"})
	o.Found(&twin.Difference{Tick: 9, Since: 8, Warm: "goes on", Cold: "the game panicked", Unfixed: true})
	fmt.Println(n.Ticks)
	// Output:
	// warm and cold differ at tick 262, restored at tick 260: Score 40, cold 41
	// no fixed result at tick 9, restored twice at tick 8: goes on, cold the game panicked
	// 0
}
