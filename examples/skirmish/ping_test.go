package skirmish_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A ping says who marked which place. It must be on the map, and a player has only a few in ten seconds.
func TestPing(t *testing.T) {
	m := newMatch(t, 1, 2, skirmish.Defaults(2, 60))
	m.bots = nil
	var pings []skirmish.Pinged
	m.each = func(event any) {
		if e, ok := event.(skirmish.Pinged); ok {
			pings = append(pings, e)
		}
	}
	at := fixed.Vec2{X: fixed.FromInt(12), Y: fixed.FromRatio(41, 2)}
	if r := m.submit(1, &skirmish.Ping{At: skirmish.Point{X: 60000}}); r.Reason == lockstep.Accepted {
		t.Error("a ping outside of the map is accepted")
	}
	for range 10 {
		m.submit(1, &skirmish.Ping{At: skirmish.PointAt(at)})
	}
	m.run(10)
	if want := (skirmish.Pinged{By: 1, At: at}); len(pings) != 5 || pings[0] != want {
		t.Errorf("got pings %+v, want 5 of %+v", pings, want)
	}
}
