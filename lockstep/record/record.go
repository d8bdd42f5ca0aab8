package record

// A Kind says what a [Record] is. It is the first value of the record's bytes. A reader refuses unknown kinds below
// FirstOptional and skips those from there on.
type Kind uint8

// The kinds of records. The package comment shows their bytes.
const (
	KindHeader   Kind = 1 // what match this is; always the first record
	KindKeyframe Kind = 2 // a state; a log has one as its second record
	KindFrame    Kind = 3 // the next tick, with commands
	KindEmpty    Kind = 4 // a run of ticks without commands
	KindChecksum Kind = 5 // the agreed checksum of a tick
	KindMismatch Kind = 6 // one player's checksum, where it differs
	KindEnd      Kind = 7 // the match is over; always the last record

	FirstOptional Kind = 64
	KindNote      Kind = 64 // a name or a line of chat; may be removed
	KindForeign   Kind = 65 // of an imported match: a line that has no other place; may be removed
	KindPanic     Kind = 66 // a panic of the rules, with the frame that the log lacks because of it
	KindEvent     Kind = 67 // by the host: what happens to the match or a seat outside of its ticks; may be removed
)

// Limits of records. A reader refuses more before it allocates memory for it.
const (
	MaxPayload       = 16 << 10  // bytes of one command's payload
	MaxFrameCommands = 8192      // commands of one tick
	MaxLobbyCommands = 1 << 17   // commands of tick 1 in a log of another engine, which has those of its lobby
	MaxFrameBytes    = 4 << 20   // bytes of the payloads of one tick that a Coordinator accepts from players
	MaxEmptyRun      = 1 << 16   // ticks of one KindEmpty
	MaxStateSize     = 256 << 20 // bytes of one snapshot
	MaxNote          = 1024      // bytes of one note's text
	MaxStack         = 16 << 10  // bytes of the stack of a Panic
	MaxResult        = 64 << 10  // canonical bytes of a match's result

	MaxName    = 128     // bytes of a name: game, build, command, topic
	MaxConfig  = 1 << 20 // bytes of a configuration
	maxSchemas = 1 << 19 // bytes of all schema descriptions together
	maxKinds   = 4096    // registered kinds of commands
)

// A Record is one entry of the log, decoded. Which fields are set depends on its Kind.
type Record struct {
	Kind Kind

	// Tick is the tick of a frame, the last tick of an empty run, or the tick of the state in a keyframe or checksum.
	// For other records it is the tick of the last frame.
	Tick Tick

	Header   *Header // KindHeader
	Keyframe Keyframe
	Frame    Frame  // KindFrame; without commands for any other kind
	Empty    uint32 // KindEmpty: how many ticks, at least 1
	Hash     uint64 // KindChecksum and KindMismatch
	Player   Player // KindMismatch, KindNote and KindEvent
	Topic    string // KindNote: "name", "chat" or "ready", or a game's own
	Event    string // KindEvent: its name, see [EventTypes]
	Text     string // KindNote, KindEvent and KindEnd
	ByRules  bool   // KindEnd: the rules ended the match in the tick before; otherwise its server did
	Result   []byte // KindEnd: canonical bytes of the result, if ByRules; empty for none
	Panic    *Panic // KindPanic
	Line     []byte // KindForeign: a line of JSON (docs/spec/recordings.md), without its line end; nobody has checked it
}

// InStep and InValidate are where a Panic says that the rules panicked: in a tick, or when they were asked about a command before it.
const (
	InStep     = "Step"
	InValidate = "Validate"
)

// A Panic is a panic of the rules, on which they had no next state. It came after the last frame of the log.
type Panic struct {
	Where string // InStep, or InValidate
	Text  string // what they panicked with
	Stack string // may be empty

	// Frame is the sealed frame of the next tick, which the log does not have. In Validate, it is Asked, and has
	// the one command that the rules were asked about.
	Frame Frame
}

// A Keyframe is a state in the log. Together with the frames after it (its command tail) it gives every later state.
type Keyframe struct {
	Hash  uint64 // checksum of State
	Last  []LastSequence
	State []byte // canonical bytes
}

// A LastSequence is the highest sequence that a player used up to a keyframe.
type LastSequence struct {
	Player   Player
	Sequence Sequence
}

// Topics of notes that the engine's tools know. Players give their texts.
const (
	TopicName  = "name"  // the player's name
	TopicChat  = "chat"  // a line that the player wrote
	TopicReady = "ready" // ReadyYes or ReadyNo: whether the player is ready to begin, in the lobby
)

// Texts of [EventPresence].
const (
	PresenceVacant    = "vacant"
	PresenceHere      = "here"
	PresenceAway      = "away" // lost, and may come back
	PresenceTakenOver = "taken over"
	PresenceBot       = "bot" // of the host
)

// Texts of [TopicReady].
const (
	ReadyYes = "yes"
	ReadyNo  = "no"
)

// KindOf returns the kind of a well-formed record. It stands after the array header of 1, 3 or 5 bytes, and has two
// bytes if it is 128 or more.
func KindOf(record []byte) Kind {
	at := 1
	switch record[0] {
	case 0xdc:
		at = 3
	case 0xdd:
		at = 5
	}
	if record[at] == 0xcc {
		at++
	}
	return Kind(record[at])
}
