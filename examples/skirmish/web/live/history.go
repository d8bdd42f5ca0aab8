package live

import (
	"encoding/json"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A History is how a match has gone, for charts.
type History struct {
	Ticks   []uint32 `json:"ticks"` // of the samples, ascending
	Players []Course `json:"players"`
}

// A Course is how a match has gone for a player: a number for each sample.
type Course struct {
	Player   int      `json:"player"`
	Team     uint8    `json:"team"`
	Army     []uint16 `json:"army"`
	Workers  []uint16 `json:"workers"`
	Gathered []uint32 `json:"gathered"`
	Kills    []uint32 `json:"kills"`
	Losses   []uint32 `json:"losses"`
}

// HistoryOf returns the history of a match as a team may know it: all of it after the match's end, and before only that of
// the team's players.
func HistoryOf(w *skirmish.World, team uint8) History {
	h := History{Ticks: []uint32{}, Players: []Course{}}
	for i := range w.Players {
		if w.Match.Winner == 0 && team != scene.Everything && w.Players[i].Team != team {
			continue
		}
		c, samples := Course{Player: i, Team: w.Players[i].Team}, w.History(lockstep.Player(i))
		h.Ticks = h.Ticks[:0]
		for _, s := range samples {
			h.Ticks = append(h.Ticks, s.Tick)
			c.Army, c.Workers = append(c.Army, s.Army), append(c.Workers, s.Workers)
			c.Gathered, c.Kills, c.Losses = append(c.Gathered, s.Gathered), append(c.Kills, s.Kills), append(c.Losses, s.Losses)
		}
		h.Players = append(h.Players, c)
	}
	return h
}

// History returns the [History] that the user may know as JSON, or nothing before there is a state.
func (g *Game) History() (b []byte) {
	g.see(func(_ *player.Client, m moment) {
		b, _ = json.Marshal(HistoryOf(m.now, g.player.Team(m.now))) // plain data
	})
	return b
}

// Request returns the body of a request for another match like this one; see package page/live.
func (g *Game) Request() []byte { return g.match.Request() }
