package live

import (
	"encoding/json"

	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/live"
)

// A Status is everything that the page shows as text.
type Status struct {
	live.Status
	Match  *Match      `json:"match"` // nil before there is a state
	Panel  *play.Panel `json:"panel"`
	Events []Event     `json:"events"` // since the last status, oldest first
}

// A Match has facts of the match.
type Match struct {
	live.Facts
	Units int    `json:"units"` // on the map
	Size  uint16 `json:"size"`
}

// Status returns the [Status] as JSON, or nothing while the session is closing.
func (g *Game) Status() []byte {
	var b []byte
	g.match.Do(func(c *player.Client) {
		s := Status{Status: g.match.StatusOf(c), Events: g.events.take()}
		if m, ok := g.moment(c); ok && s.Status.Match != nil {
			s.Panel = g.player.Panel(m.now)
			s.Match = &Match{*s.Status.Match, len(m.now.Units), uint16(scene.Side(m.now))}
		}
		var err error
		if b, err = json.Marshal(&s); err != nil {
			panic(err) // numbers, strings and structs
		}
	})
	return b
}
