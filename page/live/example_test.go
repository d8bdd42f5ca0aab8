package live_test

import (
	"context"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/live"
)

// A page joins a match, and asks for its status a few times a second.
func ExampleMatch() {
	game := lockstep.MustGame(minimal.Rules())
	var options live.Options
	var m *live.Match = live.Join(context.Background(), "ws://127.0.0.1:1/matches/duel/play", "", game, options)
	var s live.Status
	for s.Link.Attempt == 0 { // nobody answers
		s, _ = m.Status()
	}
	m.Leave()
	<-m.Done()
	var link live.Link = s.Link
	var net live.Net = s.Net
	var facts *live.Facts = s.Match // nil before there is a state
	var desync *live.Desync = s.Desync
	var mismatch *live.Mismatch = s.Mismatch
	if mismatch != nil {
		var groups []live.Reporters = mismatch.Groups
		fmt.Println(groups)
	}
	for _, check := range s.Checks {
		var c live.Check = check
		var differing []live.Differing = c.Differing
		fmt.Println(c.Tick, c.Ours == c.Match, len(differing))
	}
	var seats []live.Seat = s.Seats // empty before there is a state
	fmt.Println(link.Losses, net.Agreed, facts == nil, desync == nil, len(seats))
	for _, line := range s.Lines {
		var l live.Line = line
		fmt.Println(l.Sort, l.Text)
	}
	if desync != nil {
		var fields []live.Field = desync.Fields
		fmt.Println(fields)
	}
	// Output: 0 0 true true 0
}
