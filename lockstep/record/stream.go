package record

import (
	"errors"
	"fmt"
)

// Errors of a log's records. They are wrapped with their place.
var (
	// ErrMalformed: an Encoder does not write these bytes.
	ErrMalformed = errors.New("malformed")

	// ErrUnknownRecord: a header of another protocol, or a critical record of an unknown kind.
	ErrUnknownRecord = errors.New("unknown record")

	// ErrOutOfPlace: a well-formed record in a wrong place.
	ErrOutOfPlace = errors.New("record out of place")

	// ErrContent: a well-formed record whose content does not fit the log's header: a player without a seat, or a value
	// that its schema does not describe.
	ErrContent = errors.New("content does not fit the header")

	// ErrUnknownKind: a command of a kind that is not registered.
	ErrUnknownKind = errors.New("unknown command kind")
)

// malformed is an [ErrMalformed] whose text says so already: a [state.DecodeError].
type malformed struct{ error }

func (m malformed) Unwrap() []error { return []error{ErrMalformed, m.error} }

// A stream is the common knowledge of both ends of a log at a place in it: the ticks and sequences that records are
// relative to. Encoder and Decoder advance it by the same methods, so they cannot diverge.
type stream struct {
	stage stage
	tick  Tick          // of the last frame
	last  [256]Sequence // of each player in the frames so far

	contents *contents // rules for the records; nil before the header was read
}

// A stage is the part of the log that a stream is in.
type stage uint8

const (
	beforeHeader stage = iota
	beforeKeyframe
	running
	ended
)

// place checks that a record of this kind is allowed here, and advances the stage.
func (s *stream) place(kind Kind) error {
	want := running
	next := running
	switch kind {
	case KindHeader:
		want, next = beforeHeader, beforeKeyframe
	case KindKeyframe:
		if s.stage == beforeKeyframe {
			want = beforeKeyframe
		}
	case KindEnd:
		next = ended
	}
	if s.stage != want {
		return fmt.Errorf("%w: record %d %s", ErrOutOfPlace, kind, s.stage)
	}
	s.stage = next
	return nil
}

func (s stage) String() string {
	return [...]string{"before the header", "before the first keyframe", "after the first keyframe", "after the end"}[s]
}

// begin puts the stream after a keyframe of tick t.
func (s *stream) begin(t Tick, last []LastSequence) {
	s.tick = t
	clear(s.last[:])
	for _, l := range last {
		s.last[l.Player] = l.Sequence
	}
}

// advance moves the stream over n ticks.
func (s *stream) advance(n uint32) error {
	if s.tick+Tick(n) < s.tick {
		return fmt.Errorf("%w: tick %d + %d overflows", ErrOutOfPlace, s.tick, n)
	}
	s.tick += Tick(n)
	return nil
}

// AppendLast appends the last sequence of each player that has one, by player.
func (s *stream) AppendLast(dst []LastSequence) []LastSequence {
	for p, seq := range s.last {
		if seq > 0 {
			dst = append(dst, LastSequence{Player(p), seq})
		}
	}
	return dst
}

// Last returns the last sequence of player p, or 0.
func (s *stream) Last(p Player) Sequence { return s.last[p] }

// Tick returns the tick of the last frame.
func (s *stream) Tick() Tick { return s.tick }

// hasLast reports whether last is what AppendLast appends.
func (s *stream) hasLast(last []LastSequence) bool {
	i := 0
	for p, seq := range s.last {
		if seq == 0 {
			continue
		}
		if i == len(last) || last[i] != (LastSequence{Player(p), seq}) {
			return false
		}
		i++
	}
	return i == len(last)
}
