package protocol

import (
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Kind is the kind of a message between a client and a server. Records of the log are messages, too, and have the
// kinds of [record.Kind].
type Kind uint8

// The kinds of messages that are not records: 32 to 47 of a client, 48 to 63 of a server; both send pings and pongs. A
// new kind has a constant here, a row in descriptions, and fields of Message for values that no other kind has. Tests
// use 41 and 55 as kinds that nobody knows. CONTRIBUTING.md lists all places.
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
)

// Limits on messages. A WebSocket message can hold many messages one after the other.
const (
	MaxAuthMessage   = 4 << 10   // bytes of a WebSocket message of a client before its welcome
	MaxClientMessage = 64 << 10  // bytes of a WebSocket message of a client
	MaxServerMessage = 128 << 10 // bytes of a WebSocket message of a server
	MaxChunk         = 32 << 10  // bytes of a state in one message
	MaxSections      = 256       // sections of a checksum
	MaxPhases        = 64        // phases of a tick that was computed again
	MaxPlan          = 32 << 10  // bytes of the description of views

	// MaxDelta is the size of the difference of a view in bytes, feed.MaxDeltaBytes.
	MaxDelta = 32<<20 + 64<<10

	maxToken = 2048 // bytes

	maxCapabilities = 16
)

// A Position numbers the records of a log: the header has position 0.
type Position uint64

// A SessionToken lets a client resume its seat once.
type SessionToken [16]byte

// A Message is one message that is not a record, decoded. Its Kind says which of the other fields are set; see the
// tables of docs/spec/live.md.
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
