// Package protocol has the messages between a host and a player: their values, their bytes, and the codes of errors and
// of closing. The records of package record travel between them unchanged; their kinds differ from those of messages.
// docs/spec/live.md describes each message.
//
//samestep:deterministic
package protocol

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Kind is the kind of a message between a client and a server. Records of the log are messages, too, and have the kinds of [record.Kind].
type Kind uint8

// The kinds of messages that are not records: 32 to 47 of a client, 48 to 63 of a server; both send pings and pongs. A new kind has a
// constant here and a row in descriptions. Tests use 41 and 55 as kinds that nobody knows. CONTRIBUTING.md lists all places.
const (
	KindAuth             Kind = 32
	KindCommand          Kind = 33
	KindChecksum         Kind = 34
	KindState            Kind = 35
	KindStateSyncRequest Kind = 36
	KindPing             Kind = 37
	KindChat             Kind = 38
	KindLeave            Kind = 39
	KindAck              Kind = 40
	KindReady            Kind = 42
	KindResimulated      Kind = 43
	KindPhases           Kind = 44
	KindViewAck          Kind = 45
	KindPanicked         Kind = 46
	KindFlight           Kind = 47

	KindWelcome         Kind = 48
	KindStateSync       Kind = 49
	KindCommandAccepted Kind = 50
	KindCommandRejected Kind = 51
	KindStateRequest    Kind = 52
	KindDesyncReport    Kind = 53
	KindPong            Kind = 54
	KindError           Kind = 56
	KindClosing         Kind = 57
	KindHeld            Kind = 58
	KindResimulate      Kind = 59
	KindViewSync        Kind = 60
	KindViewDelta       Kind = 61
	KindFlightRequest   Kind = 62
	KindPackedSync      Kind = 63
)

// Limits on messages. A WebSocket message can hold many messages one after the other.
const (
	MaxAuthMessage   = 4 << 10         // bytes of a WebSocket message of a client before its welcome
	MaxClientMessage = 64 << 10        // bytes of a WebSocket message of a client
	MaxServerMessage = 128 << 10       // bytes of a WebSocket message of a server
	MaxChunk         = 32 << 10        // bytes of a state in one message
	MaxPiece         = 64 << 10        // bytes of a state in one message that is packed
	MaxSections      = 256             // sections of a checksum
	MaxPhases        = 64              // phases of a tick that was computed again
	MaxPlan          = 32 << 10        // bytes of the description of views
	MaxFlight        = flight.MaxBytes // of the record of a client's last ticks

	// MaxDelta is the size of the difference of a view in bytes, feed.MaxDeltaBytes.
	MaxDelta = 32<<20 + 64<<10

	maxToken = 2048 // bytes

	maxCapabilities = 16
)

// A Position numbers the records of a log: the header has position 0.
type Position uint64

// A SessionToken lets a client resume its seat once.
type SessionToken [16]byte

// A Message is a message that is no record, decoded. Its Kind says which fields are set; see the tables of docs/spec/live.md.
type Message struct {
	Kind Kind

	Auth     *Auth
	Welcome  *Welcome
	Position Position
	Tick     lockstep.Tick
	Sequence lockstep.Sequence
	Command  lockstep.Kind
	Reason   lockstep.Reason
	Hash     uint64
	Sections []uint64
	Nonce    uint64
	Offset   uint32 // of a chunk in its state
	Total    uint32 // bytes of the state
	Bytes    []byte // a payload or a chunk
	Player   lockstep.Player
	Agreed   lockstep.Tick // the last agreed tick
	From     lockstep.Tick // KindResimulate: of the state to begin with
	State    bool          // KindResimulate: the state is asked for, not the checksums
	First    uint64        // KindResimulated: the state hash that was computed first; 0 if it is not kept
	Names    []string      // KindPhases: of the phases, in order; Sections has the state hash at the beginning of each
	Code     uint8         // an ErrorCode or a CloseCode
	Text     string        // chat, detail, reason
	Field    string        // KindError: what is wrong; KindDesyncReport: the section; KindPanicked: in which function of the rules
	Stack    string        // KindPanicked
	RetryMS  uint32
	Ready    bool
	Seats    []byte // KindHeld: a seat in each byte, ascending
	View     uint64 // the number of a view
	Base     uint64 // that of the view from which a delta goes, or 0
	Players  uint8  // seats of the match
	Every    uint16 // ticks from one view to the next
	Period   uint32 // microseconds of a tick at full speed
	SinceMS  uint32 // KindHeld: how long ago it began
	UntilMS  uint32 // KindHeld: when it ends at the latest, from now on; 0 if nobody knows
}

// Wait returns the ticks with which the detail of a rejection with [lockstep.TooOften] begins, and 0 for any other message.
func (m *Message) Wait() lockstep.Tick {
	if m.Kind != KindCommandRejected || m.Reason != lockstep.TooOften {
		return 0
	}
	number, _, _ := strings.Cut(m.Text, " ")
	n, _ := strconv.ParseUint(number, 10, 32) // 0 if a server writes something else
	return lockstep.Tick(n)
}

// Auth is the first message of a client.
type Auth struct {
	Protocol      uint32
	Engine        string
	Game          string
	Build         string
	StateSchema   uint64 // fingerprints
	CommandSchema uint64
	SelfTest      lockstep.SelfTest
	Platform      string
	Token         string
	Session       SessionToken // zero for none
	Position      Position     // of the first record that the client does not have
	Capabilities  []string     // ascending: [Resimulate], [Views], and those of later clients
}

// Welcome is the first message of a server.
type Welcome struct {
	Seat         lockstep.Player // System for a spectator
	Role         Role
	Session      SessionToken
	Tick         lockstep.Tick // the last sealed one
	Position     Position
	Resumed      bool // the stream goes on at Position; otherwise a state sync follows
	LastSequence lockstep.Sequence
	AckEvery     uint16 // ticks
	InputDelay   uint16 // ticks, as of Tick
	SpeedPercent uint16 // of the tick rate, as of Tick
}

// A Role is the rights of a connection.
type Role uint8

// The roles. Each has the rights of those before it.
const (
	Spectator Role = iota // watch and, if the match allows it, chat
	Seated                // give commands
	Admin                 // pause, kick and end
	roleCount
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r < roleCount }

// An ErrorCode is the Code of a [KindError]: why a server refuses a message of a client.
type ErrorCode uint8

// The error codes. The first four end the connection, and so does a limit that is exceeded again and again.
const (
	ErrorMalformed ErrorCode = 1 // not a message, or not where it can stand
	ErrorIdentity  ErrorCode = 2 // another protocol, game, build or schema
	ErrorRefused   ErrorCode = 3 // the token is not known here
	ErrorFull      ErrorCode = 4 // no seat or place is free
	ErrorLimit     ErrorCode = 5 // a rate or a size
	ErrorReport    ErrorCode = 6 // a checksum report that was not compared
	ErrorRole      ErrorCode = 7 // only for players
	ErrorInactive  ErrorCode = 8 // a warning: without a command the player soon loses its seat
)

var errorTexts = [...]string{"", "malformed", "identity", "refused", "full", "limit", "report", "role", "inactive"}

func (c ErrorCode) String() string { return codeText(errorTexts[:], uint8(c)) }

// A CloseCode says why a connection ends: the Code of a [KindClosing].
type CloseCode uint8

// The close codes.
const (
	CloseLeft      CloseCode = 1  // the client asked for it
	CloseReplaced  CloseCode = 2  // another connection has the seat now
	CloseSlow      CloseCode = 3  // too far behind, or reads too slowly
	CloseTimeout   CloseCode = 4  // nothing was heard
	CloseAbuse     CloseCode = 5  // limits were exceeded again and again
	CloseKicked    CloseCode = 6  // removed by an admin or by policy
	CloseEnded     CloseCode = 7  // the match is over
	CloseShutdown  CloseCode = 8  // the server stops; come back later
	CloseMalformed CloseCode = 9  // after error malformed
	CloseRefused   CloseCode = 10 // after error identity, refused or full
	CloseBusy      CloseCode = 11 // the seat is taken again too often, or there are too many strangers; come back later
	CloseBanned    CloseCode = 12 // kept out, for the time that the text says
	CloseInactive  CloseCode = 13 // no command for a long time, by the match's policy
)

var closeTexts = [...]string{
	"", "left", "replaced", "slow", "timeout", "abuse", "kicked", "ended", "shutdown", "malformed", "refused", "busy", "banned", "inactive",
}

func (c CloseCode) String() string { return codeText(closeTexts[:], uint8(c)) }

func codeText(texts []string, code uint8) string {
	if code == 0 || int(code) >= len(texts) {
		return fmt.Sprintf("code %d", code)
	}
	return texts[code]
}

// Reasons of a [KindHeld]: in the lobby of a match, and while it runs.
const (
	LobbyPlayers = "more players are awaited"
	LobbyReady   = "not all players are ready"
	LobbyBegins  = "the match begins"

	HeldPaused    = "a player has paused the match"
	HeldForSlow   = "the match waits for players who are behind or away"
	HeldSlower    = "the match is slower for players whose machines are behind"
	HeldForReturn = "the players have not come back yet" // after an interruption of the server
)

// An Outcome says what a machine whose state was wrong has computed when it was asked to compute the same ticks again.
type Outcome uint8

// The outcomes.
const (
	OutcomeUnknown  Outcome = iota // it was not asked, or did not answer
	RightThisTime                  // its memory was altered, or its code has read something that is not in the state
	WrongTheSameWay                // its rules, its build or its platform differ
	ThirdResult                    // it computes something else each time: its rules are not deterministic
)

var outcomeTexts = [...]string{"unknown", "right this time", "wrong in the same way", "another result each time"}

func (o Outcome) String() string { return outcomeTexts[o] }

// OutcomeOf returns the outcome from state hashes: that of the match, what the machine had computed first, and what it computed later.
func OutcomeOf(right, first uint64, again ...uint64) Outcome {
	switch {
	case len(again) == 0:
		return OutcomeUnknown
	case all(again, right):
		return RightThisTime
	case all(again, first):
		return WrongTheSameWay
	}
	return ThirdResult
}

func all(hashes []uint64, one uint64) bool {
	for _, h := range hashes {
		if h != one {
			return false
		}
	}
	return true
}

// Subprotocols with which a client shows its session or token in the request for the WebSocket, so that a flooded server can tell it apart.
const (
	ShownSession = "samestep.session." // and the session in hexadecimal digits
	ShownToken   = "samestep.token."   // and the same of the bytes of the token
)

// ShownID is the beginning of the subprotocol with which a client shows the id of its session, see [SessionID].
const ShownID = "samestep.id."

// SessionID returns a random number as the id of a session: of all the connections with which a client plays or watches a match. The
// client draws it and shows it to its user, and the logs of all servers name it. It is no secret, and gives no right.
func SessionID(random uint64) string { return fmt.Sprintf("%016x", random) }

// IsSessionID reports whether a text has the form of a session's id.
func IsSessionID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// Shown returns the subprotocols that a client offers besides its own one. They do not replace the message auth.
func Shown(token string, session SessionToken) (all []string) {
	if session != (SessionToken{}) {
		all = append(all, ShownSession+hex.EncodeToString(session[:]))
	}
	if token != "" {
		all = append(all, ShownToken+hex.EncodeToString([]byte(token)))
	}
	return all
}

type side uint8

const (
	client side = 1 << iota
	server
)

// A description describes a kind of message. Reader, Writer, [Kind.String] and the tables of docs/spec/live.md come from it.
type description struct {
	name   string
	sender side
	fields []field // in order
}

type field struct {
	name      string
	at        func(*Message) any   // a pointer to where it stands in a Message; its type says how it is written
	low, high uint64               // limits of a number, or of the length of anything else; high 0: of its type
	clip      bool                 // the writer cuts a text to the limit
	check     func(*Message) error // a rule beyond the limits, or nil
	note      string               // for docs/spec/live.md, after the type and the limits
}

// descriptions has each kind at its number. After a change, run go test ./lockstep/protocol -run TestTablesOnPage -rewrite.
var descriptions = [256]description{
	KindAuth: {"auth", client, []field{
		{name: "protocol", at: func(m *Message) any { return &m.Auth.Protocol }},
		{name: "engine", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Engine }},
		{name: "game", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Game }},
		{name: "build", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Build }},
		{name: "state schema", at: func(m *Message) any { return &m.Auth.StateSchema }},
		{name: "command schema", at: func(m *Message) any { return &m.Auth.CommandSchema }},
		{name: "self-test", at: func(m *Message) any { return &m.Auth.SelfTest }},
		{name: "platform", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Platform }},
		{name: "token", high: maxToken, at: func(m *Message) any { return &m.Auth.Token }},
		{name: "session", at: func(m *Message) any { return &m.Auth.Session }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Auth.Position) }},
		{name: "capabilities", high: maxCapabilities, check: checkCapabilities, at: func(m *Message) any { return &m.Auth.Capabilities }},
	}},
	KindCommand: {"command", client, []field{
		{name: "sequence", at: sequence},
		{name: "kind", at: func(m *Message) any { return (*uint16)(&m.Command) }},
		{name: "payload", at: payload},
	}},
	KindChecksum: {"checksum", client, []field{
		{name: "tick", at: tick},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindState:            {"state", client, []field{{name: "tick", at: tick}, offset, total, chunk}},
	KindStateSyncRequest: {"state_sync_request", client, nil},
	KindPing:             {"ping", client | server, []field{{name: "nonce", at: nonce}}},
	KindChat:             {"chat", client, []field{{name: "text", high: record.MaxNote, at: text, clip: true}}},
	KindLeave:            {"leave", client, []field{{name: "reason", high: record.MaxNote, at: text, clip: true}}},
	KindAck:              {"ack", client, []field{{name: "position", at: position}, {name: "tick", at: tick}}},
	KindReady:            {"ready", client, []field{{name: "ready", at: func(m *Message) any { return &m.Ready }}}},
	KindResimulated: {"resimulated", client, []field{
		{name: "tick", at: tick},
		{name: "first hash", at: func(m *Message) any { return &m.First }},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindPhases: {"phases", client, []field{
		{name: "tick", at: tick},
		{name: "names", high: MaxPhases, at: func(m *Message) any { return &m.Names }},
		{name: "state hashes", high: MaxPhases, at: func(m *Message) any { return &m.Sections }, check: checkPhases, note: ", as many"},
	}},

	KindViewAck: {"view_ack", client, []field{view, {name: "tick", at: tick}}},
	KindPanicked: {"panicked", client, []field{
		{name: "tick", at: tick},
		{name: "where", high: record.MaxName, at: fieldText, clip: true},
		{name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "stack", high: record.MaxStack, at: func(m *Message) any { return &m.Stack }, clip: true},
	}},
	KindFlight: {"flight", client, []field{{name: "tick", at: tick}, offset, {name: "total", high: MaxFlight, at: ofTotal}, chunk}},

	KindWelcome: {"welcome", server, []field{
		{name: "seat", at: func(m *Message) any { return &m.Welcome.Seat }, note: " for a spectator"},
		{name: "role", high: uint64(roleCount - 1), at: func(m *Message) any { return (*uint8)(&m.Welcome.Role) }, note: ": 0 spectator, 1 player, 2 admin"},
		{name: "session", at: func(m *Message) any { return &m.Welcome.Session }, note: "; none for a spectator"},
		{name: "tick", at: func(m *Message) any { return (*uint32)(&m.Welcome.Tick) }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Welcome.Position) }},
		{name: "resumed", at: func(m *Message) any { return &m.Welcome.Resumed }},
		{name: "last sequence", at: func(m *Message) any { return (*uint32)(&m.Welcome.LastSequence) }},
		{name: "ack every", low: 1, at: func(m *Message) any { return &m.Welcome.AckEvery }},
		{name: "input delay", high: record.MaxInputDelay, at: func(m *Message) any { return &m.Welcome.InputDelay }},
		{name: "speed", low: record.MinSpeed, high: record.MaxSpeed, at: func(m *Message) any { return &m.Welcome.SpeedPercent }},
	}},
	KindStateSync: {"state_sync", server, []field{{name: "position", low: 1, at: position}, {name: "tick", at: tick}, offset, total, chunk}},
	KindPackedSync: {"packed_sync", server, []field{
		{name: "position", low: 1, at: position}, {name: "tick", at: tick}, offset, total,
		{name: "piece", high: MaxPiece, at: payload, check: checkPiece, note: ", not empty"},
	}},
	KindCommandAccepted: {"command_accepted", server, []field{{name: "sequence", low: 1, at: sequence}, {name: "tick", low: 1, at: tick}}},
	KindCommandRejected: {"command_rejected", server, []field{
		{name: "sequence", at: sequence},
		{name: "reason", at: func(m *Message) any { return (*uint8)(&m.Reason) }},
		{name: "detail", high: record.MaxNote, at: text, clip: true},
	}},
	KindStateRequest: {"state_request", server, []field{{name: "tick", at: tick}}},
	KindDesyncReport: {"desync_report", server, []field{
		{name: "tick", at: tick},
		{name: "player", at: func(m *Message) any { return &m.Player }},
		{name: "last agreed tick", at: func(m *Message) any { return (*uint32)(&m.Agreed) }, check: checkAgreed, note: ", less than tick; 0 for none"},
		{name: "section", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindPong: {"pong", client | server, []field{{name: "nonce", at: nonce}, {name: "tick", at: tick}}},
	KindError: {"error", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true}, {name: "field", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindClosing: {"closing", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "retry after", at: func(m *Message) any { return &m.RetryMS }, note: ", milliseconds"},
	}},
	KindHeld: {"held", server, []field{
		{name: "reason", high: record.MaxNote, at: text, clip: true},
		{name: "seats", high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Seats }, check: checkSeats, note: ", a seat in each byte, ascending"},
		{name: "since", at: func(m *Message) any { return &m.SinceMS }, note: ", milliseconds ago"},
		{name: "until", at: func(m *Message) any { return &m.UntilMS }, note: ", milliseconds from now on; 0 if nobody knows"},
	}},
	KindResimulate: {"resimulate", server, []field{
		{name: "from", at: func(m *Message) any { return (*uint32)(&m.From) }},
		{name: "to", low: 1, at: tick, check: checkFrom, note: ", above from"},
		{name: "state", at: func(m *Message) any { return &m.State }},
	}},
	KindViewSync: {"view_sync", server, []field{
		{name: "viewer", high: record.MaxName, at: text},
		{name: "seats", low: 1, high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Players }},
		{name: "every", low: 1, at: func(m *Message) any { return &m.Every }, note: ", ticks from one view to the next"},
		{name: "period", low: 1, at: func(m *Message) any { return &m.Period }, note: ", microseconds of a tick at full speed"},
		{name: "plan", high: MaxPlan, at: payload},
	}},
	KindViewDelta: {"view_delta", server, []field{
		view, {name: "base", at: func(m *Message) any { return &m.Base }, check: checkBase, note: ", at most view; 0 for the view of zeros"},
		{name: "tick", at: tick}, offset, {name: "total", high: MaxDelta, at: ofTotal}, chunk,
	}},
	KindFlightRequest: {"flight_request", server, []field{{name: "tick", low: 1, at: tick}}},
}

// needs names the capability that a client must have to get a message of a kind, or to answer with one.
var needs = map[Kind]string{
	KindResimulate: Resimulate, KindResimulated: Resimulate, KindPhases: Resimulate, KindViewSync: Views, KindViewDelta: Views, KindViewAck: Views,
	KindFlightRequest: Flight, KindFlight: Flight, KindPackedSync: Packed,
}

// Fields of several kinds of messages.
var (
	offset = field{name: "offset", at: func(m *Message) any { return &m.Offset }}
	total  = field{name: "total", high: lockstep.MaxStateSize + MaxServerMessage, at: ofTotal}
	chunk  = field{name: "chunk", high: MaxChunk, at: payload, check: checkChunk}
	view   = field{name: "view", low: 1, high: 1<<63 - 1, at: func(m *Message) any { return &m.View }}
)

func tick(m *Message) any { return (*uint32)(&m.Tick) }

func sequence(m *Message) any { return (*uint32)(&m.Sequence) }

func position(m *Message) any { return (*uint64)(&m.Position) }

func nonce(m *Message) any { return &m.Nonce }

func code(m *Message) any { return &m.Code }

func text(m *Message) any { return &m.Text }

func fieldText(m *Message) any { return &m.Field }

func payload(m *Message) any { return &m.Bytes }

func ofTotal(m *Message) any { return &m.Total }

func checkChunk(m *Message) error {
	if uint64(m.Offset)+uint64(len(m.Bytes)) > uint64(m.Total) {
		return fmt.Errorf("got a chunk of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
	return nil
}

func checkPiece(m *Message) error {
	if len(m.Bytes) == 0 || m.Offset >= m.Total {
		return fmt.Errorf("got a piece of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
	return nil
}

func checkBase(m *Message) error {
	if m.Base > m.View {
		return fmt.Errorf("got view %d from view %d", m.View, m.Base)
	}
	return nil
}

func checkAgreed(m *Message) error {
	if m.Agreed >= m.Tick {
		return fmt.Errorf("got an agreement at tick %d, want one before tick %d", m.Agreed, m.Tick)
	}
	return nil
}

func checkFrom(m *Message) error {
	if m.From >= m.Tick {
		return fmt.Errorf("got ticks from %d to %d to compute again", m.From, m.Tick)
	}
	return nil
}

func checkPhases(m *Message) error {
	if len(m.Sections) != len(m.Names) {
		return fmt.Errorf("got %d state hashes of %d phases", len(m.Sections), len(m.Names))
	}
	return nil
}

func checkSeats(m *Message) error {
	for i, seat := range m.Seats {
		if seat >= lockstep.MaxPlayers || i > 0 && seat <= m.Seats[i-1] {
			return fmt.Errorf("got seat %d at place %d, want seats below %d, ascending", seat, i, lockstep.MaxPlayers)
		}
	}
	return nil
}

func describe(k Kind) *description {
	if d := &descriptions[k]; d.name != "" {
		return d
	}
	return nil
}

// String returns the kind's name as in docs/spec/live.md.
func (k Kind) String() string {
	if d := describe(k); d != nil {
		return d.name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}
