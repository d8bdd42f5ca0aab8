package disclosure_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A program passes a log on to spectators, and asks what it may pass on.
func Example() {
	var log disclosure.Log
	_, err := log.Policy()
	fmt.Println(err)

	note := disclosure.Policy{Delay: 600}
	log.Take(&record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventDisclosure, Text: note.String()})
	p, err := log.Policy()
	fmt.Println(p, err)

	var r disclosure.Reader = disclosure.Spectator
	fmt.Println("records:", p.Records(r) == nil, "up to tick", p.Shown(r, 1000, false), "of 1000")
	// Output:
	// disclosure: the log does not say who may see the match
	// players=all delay=600 <nil>
	// records: true up to tick 400 of 1000
}
