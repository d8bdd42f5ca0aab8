package record

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// An Encoder writes the records of a log, in order. The bytes are valid until the next call. It panics at a record out of place.
type Encoder struct {
	stream
	w    pack.Writer
	buf  []byte
	note []byte
}

func (e *Encoder) begin(kind Kind, n int) {
	if err := e.place(kind); err != nil {
		panic("lockstep: Encoder: " + err.Error()) // the order of calls is the caller's
	}
	e.w.Begin(e.buf[:0])
	e.w.Array(n)
	e.w.Uint(uint64(kind))
}

// Release frees the memory of the last record, which is no longer valid.
func (e *Encoder) Release() { e.buf, e.w = nil, pack.Writer{} }

func (e *Encoder) end() []byte {
	e.buf = e.w.Bytes()
	return e.buf
}

// BeginKeyframe puts e in the place after a header: a keyframe is next.
func (e *Encoder) BeginKeyframe() { e.stream = stream{stage: beforeKeyframe} }

// Continue puts e in the place of d.
func (e *Encoder) Continue(d *Decoder) { e.stream = d.stream }

// Header encodes the first record.
func (e *Encoder) Header(h *Header) []byte {
	e.begin(KindHeader, 13)
	e.w.Uint(uint64(h.Protocol))
	e.w.String(h.Engine)
	e.w.String(h.Game)
	e.w.String(h.Build)
	e.w.Binary(h.Match[:])
	e.w.String(JoinPlatform(h.Platform, h.Sources))
	e.settings(&h.Settings)
	e.w.Binary(h.Config)
	e.w.Binary(h.ConfigSchema)
	e.w.Binary(h.StateSchema)
	e.w.Array(3 * len(h.Commands))
	for _, c := range h.Commands {
		e.w.Uint(uint64(c.Kind))
		e.w.String(c.Name)
		e.w.Binary(c.Schema)
	}
	e.w.Binary(h.ResultSchema)
	return e.end()
}

func (e *Encoder) settings(s *Settings) {
	e.w.Array(6)
	e.w.Uint(s.Seed)
	e.w.Uint(uint64(s.Players))
	e.w.Uint(uint64(s.TickMicros))
	e.w.Uint(uint64(s.CheckEvery))
	e.w.Uint(uint64(s.KeyframeEvery))
	e.w.Bool(s.Relay)
}

// Keyframe encodes the state after tick t and the last sequences (see [Encoder.AppendLast]). The first one starts the frames after t.
func (e *Encoder) Keyframe(t Tick, hash uint64, last []LastSequence, state []byte) []byte {
	first := e.stage == beforeKeyframe
	e.begin(KindKeyframe, 5)
	if first {
		e.stream.begin(t, last)
	}
	e.w.Uint(uint64(t))
	e.w.Uint(hash)
	e.w.Array(2 * len(last))
	for _, l := range last {
		e.w.Uint(uint64(l.Player))
		e.w.Uint(uint64(l.Sequence))
	}
	e.w.Binary(state)
	return e.end()
}

// Frame encodes the next tick. A frame without commands becomes an empty run of one tick. Commands must be in canonical order.
func (e *Encoder) Frame(f *Frame) []byte {
	if f.Tick != e.tick+1 {
		panic(fmt.Sprintf("lockstep: Encoder: frame %d after tick %d", f.Tick, e.tick)) // frames are sealed in order
	}
	if len(f.Commands) == 0 {
		return e.Empty(1)
	}
	e.begin(KindFrame, 1+4*len(f.Commands))
	e.tick = f.Tick
	for i := range f.Commands {
		c := &f.Commands[i]
		if c.Sequence <= e.stream.last[c.Player] || i > 0 && c.Player < f.Commands[i-1].Player {
			panic(fmt.Sprintf("lockstep: Encoder: frame %d: player %d sequence %d out of order", f.Tick, c.Player, c.Sequence)) // frames are sealed in order
		}
		e.w.Uint(uint64(c.Player))
		e.w.Uint(uint64(c.Sequence - e.stream.last[c.Player]))
		e.w.Uint(uint64(c.Kind))
		e.w.Binary(c.Payload)
		e.stream.last[c.Player] = c.Sequence
	}
	return e.end()
}

// Empty encodes a run of n ticks without commands, 1 to [MaxEmptyRun].
func (e *Encoder) Empty(n uint32) []byte {
	e.begin(KindEmpty, 2)
	if err := e.advance(n); err != nil || n == 0 || n > MaxEmptyRun {
		panic(fmt.Sprintf("lockstep: Encoder: empty run of %d ticks after tick %d", n, e.tick)) // the caller counts the run
	}
	e.w.Uint(uint64(n))
	return e.end()
}

// Checksum encodes the agreed checksum of the state after tick t.
func (e *Encoder) Checksum(t Tick, hash uint64) []byte {
	e.begin(KindChecksum, 3)
	e.back(t)
	e.w.Uint(hash)
	return e.end()
}

// Mismatch encodes the checksum of p, which differs from the agreed one.
func (e *Encoder) Mismatch(t Tick, p Player, hash uint64) []byte {
	e.begin(KindMismatch, 4)
	e.back(t)
	e.w.Uint(uint64(p))
	e.w.Uint(hash)
	return e.end()
}

func (e *Encoder) back(t Tick) {
	if t > e.tick {
		panic(fmt.Sprintf("lockstep: Encoder: checksum of tick %d after tick %d", t, e.tick)) // only sealed ticks have one
	}
	e.w.Uint(uint64(e.tick - t))
}

// Note encodes text for people, at most [MaxNote] bytes of it.
func (e *Encoder) Note(p Player, topic, text string) []byte { return e.words(KindNote, p, topic, text) }

// Event encodes an event of the registry ([EventTypes]), with at most [MaxNote] bytes of text. Only who runs a match writes it.
func (e *Encoder) Event(p Player, name, text string) []byte { return e.words(KindEvent, p, name, text) }

func (e *Encoder) words(kind Kind, p Player, name, text string) []byte {
	e.w.Begin(e.note[:0])
	e.w.Array(3)
	e.w.Uint(uint64(p))
	e.w.String(pack.Clip(name, MaxName))
	e.w.String(pack.Clip(text, MaxNote))
	e.note = e.w.Bytes()
	e.begin(kind, 2)
	e.w.Binary(e.note)
	return e.end()
}

// Foreign encodes a line of an imported match.
func (e *Encoder) Foreign(line []byte) []byte {
	e.begin(KindForeign, 2)
	e.w.Binary(line)
	return e.end()
}

// Panic encodes a panic of the rules, with the beginnings of long texts.
func (e *Encoder) Panic(p *Panic) []byte {
	e.w.Begin(e.note[:0])
	e.w.Array(3 + 4*len(p.Frame.Commands))
	e.w.String(pack.Clip(p.Where, MaxName))
	e.w.String(pack.Clip(p.Text, MaxNote))
	e.w.String(pack.Clip(p.Stack, MaxStack))
	for i := range p.Frame.Commands {
		c := &p.Frame.Commands[i]
		e.w.Uint(uint64(c.Player))
		e.w.Uint(uint64(c.Sequence))
		e.w.Uint(uint64(c.Kind))
		e.w.Binary(c.Payload)
	}
	e.note = e.w.Bytes()
	e.begin(KindPanic, 2)
	e.w.Binary(e.note)
	return e.end()
}

// Note returns a note for a log that another Encoder writes: it may stand anywhere between the first keyframe and the end.
func Note(p Player, topic, text string) []byte {
	e := Encoder{stream: stream{stage: running}}
	return e.Note(p, topic, text)
}

// Event returns an event for a log that another Encoder writes, as [Note] does.
func Event(p Player, name, text string) []byte {
	e := Encoder{stream: stream{stage: running}}
	return e.Event(p, name, text)
}

// End encodes the last record: the reason why the match is over.
func (e *Encoder) End(reason string) []byte {
	e.begin(KindEnd, 2)
	e.w.String(pack.Clip(reason, MaxNote))
	return e.end()
}

// EndByRules encodes the last record of a match that its rules ended, with the canonical bytes of the result or none.
func (e *Encoder) EndByRules(reason string, result []byte) []byte {
	e.begin(KindEnd, 3)
	e.w.String(pack.Clip(reason, MaxNote))
	e.w.Binary(result)
	return e.end()
}

// Record encodes a record of a [Decoder], as it was if the Encoder has written those before it. It returns nil for an unknown kind.
func (e *Encoder) Record(r *Record) []byte {
	switch r.Kind {
	case KindHeader:
		return e.Header(r.Header)
	case KindKeyframe:
		return e.Keyframe(r.Tick, r.Keyframe.Hash, r.Keyframe.Last, r.Keyframe.State)
	case KindFrame:
		return e.Frame(&r.Frame)
	case KindEmpty:
		return e.Empty(r.Empty)
	case KindChecksum:
		return e.Checksum(r.Tick, r.Hash)
	case KindMismatch:
		return e.Mismatch(r.Tick, r.Player, r.Hash)
	case KindNote:
		return e.Note(r.Player, r.Topic, r.Text)
	case KindEvent:
		return e.Event(r.Player, r.Event, r.Text)
	case KindForeign:
		return e.Foreign(r.Line)
	case KindPanic:
		return e.Panic(r.Panic)
	case KindEnd:
		if r.ByRules {
			return e.EndByRules(r.Text, r.Result)
		}
		return e.End(r.Text)
	}
	return nil
}

// A stream is what both ends of a log know at a place in it: ticks and sequences. Encoder and Decoder advance it by the same methods.
type stream struct {
	stage stage
	tick  Tick          // of the last frame
	last  [256]Sequence // of each player in the frames so far

	contents *contents // rules for the records; nil before the header was read
}

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

func (s *stream) begin(t Tick, last []LastSequence) {
	s.tick = t
	clear(s.last[:])
	for _, l := range last {
		s.last[l.Player] = l.Sequence
	}
}

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
