package live

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A Status is what every page shows as text, whatever the game.
type Status struct {
	Link   Link    `json:"link"`
	Net    Net     `json:"net"`
	Desync *Desync `json:"desync"` // nil while there was none
	Lines  []Line  `json:"lines"`  // news since the last status
	Match  *Facts  `json:"match"`  // nil before there is a state, or a view
	Views  string  `json:"views"`  // whose views there are, such as "team:1"; "" with a state
	Seats  []Seat  `json:"seats"`  // that somebody has

	Mismatch *Mismatch `json:"mismatch"` // the latest; nil while there was none
	Checks   []Check   `json:"checks"`   // the latest, oldest first
}

// A Seat is a seat of the match.
type Seat struct {
	Seat     int    `json:"seat"`
	Name     string `json:"name"`     // "" if it is not known
	Presence string `json:"presence"` // here, away, taken over or bot
	Ready    bool   `json:"ready"`    // in the lobby
}

// Facts are of the match's header. A match that is seen by views has no checks and no configuration.
type Facts struct {
	ID         string `json:"id"`
	Players    uint8  `json:"players"`
	TickMicros uint32 `json:"tick_micros"`
	CheckEvery uint16 `json:"check_every"`

	// The configuration as text for people, only while the match is in its lobby: at most 4 KiB, and whether that is all.
	Configuration string `json:"configuration,omitempty"`
	Whole         bool   `json:"whole,omitempty"`
}

// Net has the client's measurements.
type Net struct {
	Session     string `json:"session"` // its id in the logs of the servers; "" without a server
	Stage       string `json:"stage"`
	Seat        int    `json:"seat"` // -1 without one
	Tick        uint32 `json:"tick"`
	ServerTick  uint32 `json:"server_tick"`
	BehindMS    int64  `json:"behind_ms"` // how far the shown state is behind the match
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
	WatchedMS   int64  `json:"watched_ms"`  // for how long the match has run here; 0 if the next two are not measured
	Stalls      int    `json:"stalls"`      // times that the picture stood still for more than 100 ms
	Corrections int    `json:"corrections"` // times that the connection made a prediction wrong
	LateFrames  uint64 `json:"late_frames"`
	Datagrams   bool   `json:"datagrams"`
	LossInPPM   uint32 `json:"loss_in_ppm"` // of datagrams
	LossOutPPM  uint32 `json:"loss_out_ppm"`
	Repeats     uint64 `json:"repeats"`
	In          uint64 `json:"in"` // bytes a second
	Out         uint64 `json:"out"`
	TotalIn     uint64 `json:"total_in"`
	TotalOut    uint64 `json:"total_out"`
}

// Status returns the state of the match for the page, and takes the news. It reports false while the session is closing.
func (m *Match) Status() (s Status, ok bool) {
	ok = m.Do(func(c *player.Client) { s = m.StatusOf(c) })
	return s, ok
}

// StatusOf is [Match.Status] in the session's goroutine.
func (m *Match) StatusOf(c *player.Client) Status {
	n := &m.news
	s := Status{Net: netOf(c), Lines: append([]Line{}, n.lines...), Link: n.link, Mismatch: n.differ}
	s.Net.Session = m.id
	n.lines = n.lines[:0]
	now := m.now()
	if n.link.Held != "" {
		s.Link.SinceMS = max(0, (now - n.since).Milliseconds())
	}
	if n.until > 0 {
		s.Link.UntilMS = max(0, (n.until - now).Milliseconds())
	}
	if n.lostAt > 0 {
		s.Link.LostMS = (now - n.lostAt).Milliseconds()
	}
	s.Checks = checksOf(c)
	s.Seats = []Seat{}
	for _, seat := range c.Seats() {
		s.Seats = append(s.Seats, Seat{int(seat.Player), seat.Name, seat.Presence.String(), seat.Ready})
	}
	if n.retry > 0 {
		s.Link.RetryMS = max(0, (n.retry - now).Milliseconds())
	}
	if n.desync.Tick != 0 || n.desync.Planted != "" {
		d := n.desync
		s.Desync = &d
	}
	if _, ok := c.Interpolation(); ok {
		h := c.Header()
		s.Match = &Facts{ID: h.Match.String(), Players: h.Settings.Players, TickMicros: h.Settings.TickMicros, CheckEvery: h.Settings.CheckEvery}
		s.Net.BehindMS = h.Settings.Micros(max(0, int64(s.Net.ServerTick)-int64(s.Net.Tick))) / 1000
		if n.link.Lobby {
			s.Match.Configuration, s.Match.Whole = m.configuration.of(m.game, h)
		}
	} else if sight, ok := c.Sight(); ok {
		s.Views = sight.Viewer
		s.Match = &Facts{ID: m.options.ID, Players: sight.Players, TickMicros: uint32(sight.Period)}
		s.Net.BehindMS = (lockstep.Time(max(s.Net.ServerTick, s.Net.Tick)-s.Net.Tick) * sight.Period).Milliseconds()
	}
	return s
}

func netOf(c *player.Client) Net {
	s := c.Status()
	n := Net{
		Stage: s.Stage.String(), Seat: int(s.Seat), Tick: uint32(s.Tick), ServerTick: uint32(s.ServerTick), Predicted: uint32(s.Predicted),
		InputDelay: uint32(s.InputDelay), Backlog: uint32(s.Backlog), Speed: s.Speed,
		RoundTripUS: int64(s.RoundTrip), JitterUS: int64(s.Jitter), DelayUS: int64(s.RenderDelay),
		Agreed: s.Agreed, Differing: s.Differing, Unanswered: s.Unanswered,
		WatchedMS: s.Watched.Milliseconds(), Stalls: s.Stalls, Corrections: s.Corrections, LateFrames: s.LateFrames,
		Datagrams: s.Datagrams, LossInPPM: s.LossIn, LossOutPPM: s.LossOut, Repeats: s.Repeats,
		In: s.BytesInRate, Out: s.BytesOutRate, TotalIn: s.BytesIn, TotalOut: s.BytesOut,
	}
	if s.Seat == lockstep.System {
		n.Seat = -1
	}
	return n
}
