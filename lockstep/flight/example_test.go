package flight_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Two machines compute a tick, and one draws once more.
func ExampleParting() {
	tick := flight.Tick{Tick: 1, Phases: []string{"move", "combat"}}
	one, other := tick, tick
	one.Draws = []flight.Drawn{{Phase: 2, Sum: 7, Streams: []flight.Draws{{Stream: "damage", Count: 3}}}}
	other.Draws = []flight.Drawn{{Phase: 2, Sum: 9, Streams: []flight.Draws{{Stream: "damage", Count: 4}}}}

	var c flight.Comparison
	c, _ = flight.Compare(&flight.Record{Ticks: []flight.Tick{one}}, &flight.Record{Ticks: []flight.Tick{other}}, 0)
	var p *flight.Parting = c.Draws
	fmt.Printf("tick %d, phase %s: %d and %d draws of %s\n", p.Tick, p.Phase, p.A, p.B, p.Stream)
	// Output:
	// tick 1, phase combat: 3 and 4 draws of damage
}

// Two machines compute ten ticks of a match. The memory of one is altered at tick 7.
func Example() {
	compute := func(fault uint64) *flight.Record {
		var ring flight.Ring
		ring.Begin(record.MatchID{1}, 0)
		for t := record.Tick(1); t <= 10; t++ {
			ring.Open()
			ring.Phase("combat") // Step does this and what follows
			ring.Drew("damage", 4)
			prints := []uint64{uint64(t), 500} // of the sections Match and Units
			if t >= 7 {
				prints[1] += fault
			}
			ring.Note(t, nil, prints, 4096)
		}
		return ring.Record()
	}
	right, wrong := compute(0), compute(64)
	bytes := wrong.Append(nil)
	wrong, err := flight.Parse(bytes)
	if err != nil {
		panic(err)
	}
	c, _ := flight.Compare(right, wrong, 0)
	fmt.Printf("%d bytes of ticks %d to %d\n", len(bytes), wrong.First(), wrong.Last())
	fmt.Printf("the same after tick %d, section %d differs after tick %d; exact: %t\n", c.Same, c.Sections[0], c.Differs, c.Exact())
	// Output:
	// 184 bytes of ticks 1 to 10
	// the same after tick 6, section 1 differs after tick 7; exact: true
}
