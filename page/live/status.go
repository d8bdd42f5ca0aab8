package live

import (
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
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

// A Line is a piece of news.
type Line struct {
	Sort   string `json:"sort"`   // "chat", "problem", "link", "desync", "seat", the topic of a note, the name of an event, or a sort of the game
	Player int    `json:"player"` // its author or subject; -1 without one
	Text   string `json:"text"`
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

// holds are the sorts of a Link's Hold by the reason. The server's own reasons have none.
var holds = map[string]string{
	protocol.LobbyPlayers: "players", protocol.LobbyReady: "ready", protocol.LobbyBegins: "begins", protocol.HeldPaused: "paused",
	protocol.HeldForSlow: "slow", protocol.HeldSlower: "slower", protocol.HeldForReturn: "return", player.LinkStalled: "stalled", "": "",
}

// A Link is the state of the connection.
type Link struct {
	State   string `json:"state"` // "connecting", "joining", "syncing", "live", "lost", "ended" or "failed"
	Text    string `json:"text"`
	Attempt int    `json:"attempt"`  // after a loss
	RetryMS int64  `json:"retry_ms"` // to the next attempt
	Bytes   uint32 `json:"bytes"`    // received bytes of the state
	Total   uint32 `json:"total"`
	Tick    uint32 `json:"tick"`   // simulated while catching up
	Target  uint32 `json:"target"` // the last tick to catch up to
	Losses  int    `json:"losses"`
	LostMS  int64  `json:"lost_ms"`  // for how long there has been no connection; 0 with one
	GaveUp  bool   `json:"gave_up"`  // to connect; the page may join again
	Held    string `json:"held"`     // why the match stands still or is slower; "" if it does not
	Hold    string `json:"hold"`     // the sort of that: "players", "ready", "begins", "paused", "slow", "slower", "return", "stalled", or "server" for its own reasons
	HeldFor []int  `json:"held_for"` // seats
	SinceMS int64  `json:"since_ms"` // for how long
	UntilMS int64  `json:"until_ms"` // the longest time until it goes on; 0 if nobody knows
	Lobby   bool   `json:"lobby"`    // it has not begun
	Refused bool   `json:"refused"`  // the server does not know the token
	Views   bool   `json:"views"`    // the server refuses the page because it must ask for views
}

// A Check is what this client knows about the checksums of a tick. A player of which it has none has agreed, or has not reported one.
type Check struct {
	Tick      uint32      `json:"tick"`
	Ours      string      `json:"ours"`      // 16 hexadecimal digits; "" if it was not compared
	Match     string      `json:"match"`     // the one that the match agrees on; "" if that is not known
	Differing []Differing `json:"differing"` // this client among them
}

// Differing is a player's checksum that is not the match's.
type Differing struct {
	Player int    `json:"player"` // the seat
	Hash   string `json:"hash"`
}

// A Desync describes this client's last desync.
type Desync struct {
	Planted string  `json:"planted"` // the field that was corrupted on purpose; "" for none
	At      uint32  `json:"at"`      // the tick of that
	Tick    uint32  `json:"tick"`    // of the mismatching check; 0 before
	Agreed  uint32  `json:"agreed"`  // the last check that agreed, as far as known
	Section string  `json:"section"` // the first different section; "" if unknown
	Seen    uint32  `json:"seen"`    // the tick of the comparison of both states; 0 before
	Fields  []Field `json:"fields"`  // the first different fields
	Total   int     `json:"total"`   // number of different fields
	Again   string  `json:"again"`   // what computing the ticks again has shown, as [protocol.Outcome.String] has it; "" before
	From    uint32  `json:"from"`    // the tick with whose state that began
	Healed  uint32  `json:"healed"`  // the check that agreed again; 0 before
	Number  int     `json:"number"`  // of desyncs so far
}

// A Mismatch says whose states differ, as everybody in the match hears it.
type Mismatch struct {
	Tick   uint32      `json:"tick"`
	Groups []Reporters `json:"groups"`
}

// Reporters are the players with one checksum.
type Reporters struct {
	Hash    string `json:"hash"`    // 16 hexadecimal digits
	Agreed  bool   `json:"agreed"`  // it is the match's, whose players are not listed
	Players []int  `json:"players"` // by seat
}

// A Field is a field that differs.
type Field struct {
	Path   string `json:"path"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}
