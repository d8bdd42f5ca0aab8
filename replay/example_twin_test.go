package replay_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed-49bee653/samestep/replay"
)

// A bundle of the heavy mode says where a state and its restored copy differ.
func ExampleBundleTwin() {
	m := replay.Manifest{Tick: 262, Agreed: 260, Player: 255, Twin: &replay.BundleTwin{Since: 260, Field: "Score", Warm: "40", Cold: "41"}}
	text, err := json.Marshal(m.Twin)
	fmt.Println(m.Where(), string(text), err)
	// Output: on the server {"since":260,"field":"Score","warm":"40","cold":"41"} <nil>
}
