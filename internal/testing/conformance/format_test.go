package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Transcript is a live session: the match, and the messages of both sides with their
// times. The messages to one side are enough to check those that it sends.
type Transcript struct {
	Format int      `json:"format"` // 1
	About  string   `json:"about"`
	Plays  []string `json:"plays"` // the sides that it checks: "server", "client"
	Match  Setting  `json:"match"`
	Host   Policy   `json:"host"`             // differences from the defaults of docs/limits.md
	Tokens []Token  `json:"tokens,omitempty"` // of the server
	Client *Player  `json:"client,omitempty"` // the checked client
	EndsMS int64    `json:"ends_ms"`          // both sides are watched until then
	Steps  []Step   `json:"-"`                // one a line, see encode
}

// A Setting is the match: that of the conformance game with the id of the suite
// and the platform "conformance".
type Setting struct {
	Seed          uint64 `json:"seed,string"`
	Players       uint8  `json:"players"`
	TickMicros    uint32 `json:"tick_micros"`
	CheckEvery    uint16 `json:"check_every"`
	KeyframeEvery uint32 `json:"keyframe_every"`
	Start         int32  `json:"start"` // the game's configuration
}

// A Policy is the configuration of the server. Zero values are the defaults.
type Policy struct {
	Relay               bool   `json:"relay,omitempty"`
	AnonymousSpectators bool   `json:"anonymous_spectators,omitempty"`
	SpectatorChat       bool   `json:"spectator_chat,omitempty"`
	SpectatorDelayTicks uint32 `json:"spectator_delay_ticks,omitempty"`
	LeaveAfterGrace     bool   `json:"leave_after_grace,omitempty"`
	Evidence            bool   `json:"evidence,omitempty"` // states are asked for after a desync
	Desync              string `json:"desync,omitempty"`   // log, resync (the default) or remove
	LagTicks            uint32 `json:"lag_ticks,omitempty"`
	RingRecords         int    `json:"ring_records,omitempty"`
	MaxSpectators       int    `json:"max_spectators,omitempty"`
	MaxConnecting       int    `json:"max_connecting,omitempty"`
	MaxPerTick          int    `json:"max_per_tick,omitempty"`
	StartPlayers        int    `json:"start_players,omitempty"`
	StartReady          bool   `json:"start_ready,omitempty"`
	StartCountdownMS    int64  `json:"start_countdown_ms,omitempty"`
	SyncBytesPerTick    int    `json:"sync_bytes_per_tick,omitempty"`
	GraceMS             int64  `json:"grace_ms,omitempty"`
	SyncMS              int64  `json:"sync_ms,omitempty"`
	WaitMS              int64  `json:"wait_ms,omitempty"`
	SlowPercent         uint16 `json:"slow_percent,omitempty"`
	AddsPerSecond       int    `json:"adds_per_second,omitempty"` // the limit of the kind add
	Substitute          bool   `json:"substitute,omitempty"`      // adds 1 in each tick, for a seat that is taken over
	InactiveMS          int64  `json:"inactive_ms,omitempty"`     // then the seat is taken over
	BytesRate           int    `json:"bytes_rate,omitempty"`      // a second
	BytesBurst          int    `json:"bytes_burst,omitempty"`     // with BytesRate
	Views               string `json:"views,omitempty"`           // the game with views; "asked" or "only"
}

// A Token is a token that the server accepts. Tokens of guests need not be listed.
type Token struct {
	Token string `json:"token"`
	Role  string `json:"role"` // player, spectator or admin
	Seat  *uint8 `json:"seat,omitempty"`
	Name  string `json:"name,omitempty"`
}

// A Player is a client under test and its configuration.
type Player struct {
	Token string `json:"token"`
	Conns []int  `json:"conns"` // its connections; all others are guests'

	Resimulates bool `json:"resimulates,omitempty"` // it says so in its auth
	Datagrams   bool `json:"datagrams,omitempty"`   // each of its connections has a path of datagrams
}

// A Step is one event. Steps are in the order of the events, also within one millisecond.
type Step struct {
	AtMS int64  `json:"at_ms"`
	Conn int    `json:"conn,omitempty"` // numbered from 1 in the order in which they were opened
	From string `json:"from"`           // server, client, network, operator or player

	// Hex is one WebSocket message, and Says its content for people.
	Hex  string `json:"hex,omitempty"`
	Says []any  `json:"says,omitempty"`

	// Do is an event that is no message: a connection is opened, cut (without a message),
	// refused or closed, Hex is a datagram, or the operator or player does something, with a number, a text
	// or a payload.
	Do      string `json:"do,omitempty"`
	Number  int64  `json:"number,omitempty"`
	Text    string `json:"text,omitempty"`
	Payload string `json:"payload,omitempty"`
	About   string `json:"about,omitempty"`
}

// encode returns the text of a transcript: each step is one line.
func (t *Transcript) encode() []byte {
	head, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		panic(err) // plain values
	}
	b := append(bytes.TrimSuffix(head, []byte("\n}")), ",\n \"steps\": ["...)
	for i := range t.Steps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, "\n  "...), oneLine(&t.Steps[i])...)
	}
	return append(b, "\n ]\n}\n"...)
}

// oneLine returns the JSON of a value on one line, with <, > and & as they are.
func oneLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // plain values
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// parseTranscript reads the text of a transcript.
func parseTranscript(text []byte) (*Transcript, error) {
	var t struct {
		Transcript
		Steps []Step `json:"steps"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("conformance: transcript: %w", err)
	}
	if t.Format != 1 {
		return nil, fmt.Errorf("conformance: transcript: format: got %d, want 1", t.Format)
	}
	t.Transcript.Steps = t.Steps
	return &t.Transcript, nil
}
