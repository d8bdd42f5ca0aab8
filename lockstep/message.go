package lockstep

// A MessageKind says what a message between a client and a server is. Records
// of the log are messages, too, and have the kinds of [RecordKind].
type MessageKind uint8

// The kinds of messages that are not records; docs/protocol.md has their values.
const (
	MessageAuth             MessageKind = 32
	MessageCommand          MessageKind = 33
	MessageChecksum         MessageKind = 34
	MessageState            MessageKind = 35
	MessageStateSyncRequest MessageKind = 36
	MessagePing             MessageKind = 37
	MessageChat             MessageKind = 38
	MessageLeave            MessageKind = 39
	MessageAck              MessageKind = 40

	MessageWelcome         MessageKind = 48
	MessageStateSync       MessageKind = 49
	MessageCommandAccepted MessageKind = 50
	MessageCommandRejected MessageKind = 51
	MessageStateRequest    MessageKind = 52
	MessageDesyncReport    MessageKind = 53
	MessagePong            MessageKind = 54
	MessageError           MessageKind = 56
	MessageClosing         MessageKind = 57
)

// Limits on messages, in bytes.
const (
	MaxAuthMessage   = 4 << 10   // of a client that is not welcome yet
	MaxClientMessage = 64 << 10  // of a client
	MaxServerMessage = 128 << 10 // of a server
	MaxChunk         = 32 << 10  // of a state in one message

	maxToken    = 2048
	maxSections = 256
)

// A Position numbers the records of a log: the header has position 0.
type Position uint64

// A SessionToken lets a client resume its seat once.
type SessionToken [16]byte

// A Message is one message that is not a record, decoded. Which fields are set
// depends on its Kind; docs/protocol.md names them by kind.
type Message struct {
	Kind MessageKind

	Auth     *Auth // MessageAuth
	Welcome  *Welcome
	Position Position // MessageStateSync, MessageAck
	Tick     Tick
	Sequence Sequence
	Command  Kind     // MessageCommand
	Reason   Reason   // MessageCommandRejected
	Root     uint64   // MessageChecksum
	Sections []uint64 // MessageChecksum
	Nonce    uint64   // MessagePing, MessagePong
	Offset   uint32   // MessageState, MessageStateSync
	Total    uint32
	Bytes    []byte // a payload or a chunk
	Player   Player // MessageDesyncReport
	Agreed   Tick
	Code     uint8  // MessageError, MessageClosing
	Text     string // chat, detail, reason
	Field    string // MessageError: what is wrong; MessageDesyncReport: the section
	RetryMS  uint32 // MessageClosing
}

// Auth is the first message of a client.
type Auth struct {
	Protocol      uint32
	Engine        string
	Game          string
	Build         string
	StateSchema   uint64 // fingerprints
	CommandSchema uint64
	SelfTest      SelfTest
	Platform      string
	Token         string
	Session       SessionToken // zero for none
	Position      Position     // of the first record that the client does not have
}

// Welcome is the first message of a server.
type Welcome struct {
	Seat         Player // System for a spectator
	Role         Role
	Session      SessionToken
	Tick         Tick // the last sealed one
	Position     Position
	Resumed      bool // the stream goes on at Position; otherwise a state sync follows
	LastSequence Sequence
	AckEvery     uint16 // ticks
	InputDelay   uint16 // ticks, as of Tick
	SpeedPercent uint16 // of the tick rate, as of Tick
}

// A Role says what a connection may do.
type Role uint8

// The roles. Each may do what those before it may.
const (
	Spectator Role = iota // watch and, if the match allows it, chat
	Seated                // give commands
	Admin                 // pause, kick and end
	roleCount
)
