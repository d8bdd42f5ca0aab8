package record

import (
	"io"
	"iter"
	"slices"
)

// A Kind says what a [Record] is: the first value of its bytes. A reader skips unknown kinds from FirstOptional on, and refuses others.
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

// A Record is one entry of the log, decoded. Which fields are set depends on its Kind.
type Record struct {
	Kind Kind

	// Tick is that of a frame, of the last frame in an empty run, of the state in a keyframe or checksum, or else of the frame before.
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

	// Frame is the sealed frame of the next tick, which the log lacks. In Validate, it is Asked, and has the one command in question.
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

// KindOf returns the kind of a well-formed record: behind the array header of 1, 3 or 5 bytes, in two bytes from 128 on.
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

// All iterates over the records that next returns, in the order of the log. Each is valid until the next one. [io.EOF] ends the log; any
// other error comes last, with a nil record.
//
// Callers need no Kind to handle ticks: [Record.Ticks] tells by how many a record advances the match, and [Record.Frames] and
// [Record.FrameAfter] give them one by one.
func All(next func() (*Record, error)) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			r, err := next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Advances reports whether a record of this kind has ticks: whether it is a frame or a run of empty ticks.
func (k Kind) Advances() bool { return k == KindFrame || k == KindEmpty }

// Ticks returns by how many ticks the record advances the match: 1 for a frame, up to [MaxEmptyRun] for an empty run, or else 0.
func (r *Record) Ticks() Tick {
	switch r.Kind {
	case KindFrame:
		return 1
	case KindEmpty:
		return Tick(r.Empty)
	}
	return 0
}

// FrameAfter returns the frame of the record's first tick after t, or nil. It is valid until the next call.
func (r *Record) FrameAfter(t Tick) *Frame {
	n := r.Ticks()
	if n == 0 || t >= r.Tick {
		return nil
	}
	r.Frame.Tick = max(t, r.Tick-n) + 1
	return &r.Frame
}

// Frames iterates over the frames of the record's ticks, in order. Each is valid until the next one.
func (r *Record) Frames() iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) {
		for t := r.Tick - r.Ticks(); t < r.Tick; t++ {
			if !yield(r.FrameAfter(t)) {
				return
			}
		}
	}
}

// A Log takes the records of a match, in order, whose bytes are valid until Append returns. After an error, it has no more of them.
type Log interface {
	Append(record []byte) error
}

// Tee returns a Log that appends to each of logs in turn and stops at the first error. Put the log that must not miss a record first.
func Tee(logs ...Log) Log { return tee(logs) }

type tee []Log

func (t tee) Append(record []byte) error {
	for _, l := range t {
		if err := l.Append(record); err != nil {
			return err
		}
	}
	return nil
}

// A Tail is a Log in memory for late joiners: it keeps the header, the latest keyframe and the records after that.
type Tail struct {
	records [][]byte // the header, the keyframe, and those after it
}

// Append takes one record.
func (t *Tail) Append(record []byte) error {
	if KindOf(record) == KindKeyframe && len(t.records) > 0 {
		t.records = t.records[:1]
	}
	t.records = append(t.records, slices.Clone(record))
	return nil
}

// Join appends the kept records to l, which then has caught up with the match.
func (t *Tail) Join(l Log) error {
	for _, record := range t.records {
		if err := l.Append(record); err != nil {
			return err
		}
	}
	return nil
}
