// Package record is the log of a match: its records, their bytes, and the values in them, such as ticks, players and
// commands. An [Encoder] writes records. A [Decoder] reads them and compares their contents with the log's own header.
// [All] walks a log, and [Record.Frames] the ticks of a record.
//
// docs/spec/replay.md has the bytes of the records. Some of their reasons:
//
//   - A frame has no tick and no count of commands: it is the next tick, and the array's length tells the count. An
//     empty tick takes 3 bytes, and less in a run.
//   - A sequence is the step from the player's sequence before it in the log: mostly the number 1, in one byte. The tick of
//     a checksum is counted back from the last frame.
//   - Commands are in canonical order, and a reader refuses any other: one tick has one byte string.
//   - [System] is player 255 and so runs last in a tick. It has kinds of its own.
//   - Kinds below 64 are critical: a reader that does not know one must stop. Kinds from 64 on are always [kind,
//     bytes], so any reader can skip them. Their content never reaches a simulation.
//
//samestep:deterministic
package record

import "errors"

// Errors of a log's records. They are wrapped with their place.
var (
	// ErrMalformed: an Encoder does not write these bytes.
	ErrMalformed = errors.New("malformed")

	// ErrUnknownRecord: a header of another protocol, or a critical record of an unknown kind.
	ErrUnknownRecord = errors.New("unknown record")

	// ErrOutOfPlace: a well-formed record in a wrong place.
	ErrOutOfPlace = errors.New("record out of place")

	// ErrContent: a well-formed record that does not fit the log's header: a player without a seat, or a value of no schema.
	ErrContent = errors.New("content does not fit the header")

	// ErrUnknownKind: a command of a kind that is not registered.
	ErrUnknownKind = errors.New("unknown command kind")
)

// malformed is an [ErrMalformed] whose text says so already: a [state.DecodeError].
type malformed struct{ error }

func (m malformed) Unwrap() []error { return []error{ErrMalformed, m.error} }

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
