package replay_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The manifest of a bundle names the flight records: of the referee, and of the machines that were asked.
func ExampleBundleFlight() {
	m := replay.Manifest{Flights: []replay.BundleFlight{{Player: lockstep.System, File: "flights/referee.flight"}, {Player: 2, File: "flights/2.flight"}}}
	fmt.Println(len(m.Flights) <= replay.MaxFlights, m.Flights[1].File)
	// Output: true flights/2.flight
}
