package live

import (
	"encoding/json"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A Status is everything that the page shows as text.
type Status struct {
	Link   Link    `json:"link"`
	Net    Net     `json:"net"`
	Desync *Desync `json:"desync"` // nil while there was none
	Lines  []Line  `json:"lines"`  // news since the last status

	Match *Match      `json:"match"` // nil before there is a state
	Panel *play.Panel `json:"panel"`
}

// A Match has facts of the match's header.
type Match struct {
	ID         string `json:"id"`
	Players    uint8  `json:"players"`
	TickRate   uint16 `json:"tick_rate"`
	CheckEvery uint16 `json:"check_every"`
	Units      int    `json:"units"` // on the map
	Size       uint16 `json:"size"`
}

// Net has the client's measurements.
type Net struct {
	Stage       string `json:"stage"`
	Seat        int    `json:"seat"` // -1 without one
	Tick        uint32 `json:"tick"`
	ServerTick  uint32 `json:"server_tick"`
	Predicted   uint32 `json:"predicted"` // 0 if nothing is
	InputDelay  uint32 `json:"input_delay"`
	Backlog     uint32 `json:"backlog"`
	Speed       int64  `json:"speed"` // percent
	RoundTripUS int64  `json:"round_trip_us"`
	JitterUS    int64  `json:"jitter_us"`
	DelayUS     int64  `json:"delay_us"` // of the buffer
	Agreed      int    `json:"agreed"`
	Differing   int    `json:"differing"`
	Unanswered  int    `json:"unanswered"`
	In          uint64 `json:"in"` // bytes a second
	Out         uint64 `json:"out"`
	TotalIn     uint64 `json:"total_in"`
	TotalOut    uint64 `json:"total_out"`
}

// Status returns the [Status] as JSON, or nothing while the session is closing.
func (g *Game) Status() []byte {
	var b []byte
	g.do(func(c *player.Client) {
		s := Status{Net: netOf(c), Lines: g.news.lines, Link: g.news.link}
		if g.news.retry > 0 {
			s.Link.RetryMS = max(0, int64((g.news.retry-g.now())/lockstep.Millisecond))
		}
		if g.news.desync.Tick != 0 || g.news.desync.Planted != "" {
			s.Desync = &g.news.desync
		}
		if v, ok := c.View(); ok {
			w := lockstep.World[skirmish.World](v.Current)
			g.player.Look(w)
			s.Panel = g.player.Panel(w)
			h := c.Header()
			s.Match = &Match{h.Match.String(), h.Settings.Players, h.Settings.TickRate, h.Settings.CheckEvery, len(w.Units), uint16(scene.Side(w))}
		}
		var err error
		if b, err = json.Marshal(&s); err != nil {
			panic(err) // numbers, strings and structs
		}
		g.news.lines = g.news.lines[:0]
	})
	return b
}

func netOf(c *player.Client) Net {
	s := c.Status()
	n := Net{
		Stage: s.Stage.String(), Seat: int(s.Seat), Tick: uint32(s.Tick), ServerTick: uint32(s.ServerTick), Predicted: uint32(s.Predicted),
		InputDelay: uint32(s.InputDelay), Backlog: uint32(s.Backlog), Speed: s.Speed,
		RoundTripUS: int64(s.RoundTrip), JitterUS: int64(s.Jitter), DelayUS: int64(s.RenderDelay),
		Agreed: s.Agreed, Differing: s.Differing, Unanswered: s.Unanswered,
		In: s.BytesInRate, Out: s.BytesOutRate, TotalIn: s.BytesIn, TotalOut: s.BytesOut,
	}
	if s.Seat == lockstep.System {
		n.Seat = -1
	}
	return n
}
