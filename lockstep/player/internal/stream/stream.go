// Package stream takes the records of a match in their order as they arrive, and the states with which a player joins.
//
// A [Stream] outlives connections, so that a player can go on where it was. It has no clock and runs nothing: it knows where the
// stream stands, and not where the simulation does.
//
// # States
//
//	none ──Begin, not resumed──> awaiting ──Chunk, until a state is whole; Adopt──> streaming
//	streaming ──Begin, resumed──> streaming
//	streaming ──Drop, too much waits──> dropping ──(another state)──> streaming
//	streaming ──Break, or what Take cannot decode──> none
//
// [Stream.From] is the position at which the stream can go on: 0 while a state is awaited. A dropping stream still takes records, which
// nobody keeps, so that it knows the position.
//
// # States that arrive
//
// A state comes in chunks, which must follow each other. It takes memory only for bytes that have come. The owner asks for
// another one after a bad one, and gives up if that was too often ([Stream.Ask]). A server that is too slow is left ([Stream.Stalled]): nothing
// for [Patience], or less than minRate bytes in a second after that; a server may begin a state again, but gains no time by it.
//
// # What the commands of System say
//
// [Stream.Take] looks for what says when the next ticks come: pauses, the speed, and the input delay.
//
//samestep:deterministic
package stream

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// Patience is how long a client waits for a welcome, or for the next part of a state, before it reconnects.
	Patience = 30 * lockstep.Second

	// minRate is the least rate of a state's bytes after that, per second. Otherwise a server could send a byte now
	// and then for ever.
	minRate = 1 << 10

	// maxAsks is how often a client asks for another state after one was bad.
	maxAsks = 2
)

// A Stream is the part of the stream that has arrived.
type Stream struct {
	payloads   *record.Payloads
	Streaming  bool // the decoder stands in a stream
	dec        record.Decoder
	Position   protocol.Position // of the next record
	assembly   Assembly
	asks       int           // for a state, since the last one that was good
	Dropping   bool          // records are not kept, because a new state is awaited
	paused     bool          // by the last tick
	resumes    bool          // the server has said since then that the match goes on
	Speed      int64         // percent of the tick rate, after the last tick
	InputDelay lockstep.Tick // of input
	waiting    lockstep.Time // since when a state has been awaited and nothing of it came
	awaited    lockstep.Time // since when it has been awaited
	most       int           // bytes of it that have come, at most: a server may begin again
}

// New returns a Stream of a match of a game. unpack is player.Options.Unpack, or nil.
func New(g *lockstep.Game, unpack func(dst, piece []byte, most int) ([]byte, error)) Stream {
	return Stream{payloads: g.NewPayloads(), assembly: Assembly{unpack: unpack}}
}

// Begin says that a connection is welcome, and that the stream is resumed or begins with a state.
func (s *Stream) Begin(now lockstep.Time, w *protocol.Welcome) {
	s.Streaming, s.paused = w.Resumed, false
	s.Speed, s.InputDelay = int64(w.SpeedPercent), lockstep.Tick(w.InputDelay)
	s.Await(now)
}

// Await begins to wait for a state.
func (s *Stream) Await(now lockstep.Time) { s.waiting, s.awaited, s.most = now, now, 0 }

// Stalled reports whether a state is awaited, and comes too slowly or not at all.
func (s *Stream) Stalled(now lockstep.Time) bool {
	return s.From() == 0 && (now-s.waiting >= Patience || now-s.awaited >= Patience+lockstep.Time(s.most)*lockstep.Second/minRate)
}

// From returns the position at which the stream can go on, or 0.
func (s *Stream) From() protocol.Position {
	if !s.Streaming || s.Dropping {
		return 0
	}
	return s.Position
}

// Resumes reports whether a stream that is resumed at a position goes on, and where it stands.
func (s *Stream) Resumes(at protocol.Position) (bool, protocol.Position) {
	return s.Streaming && at == s.Position, s.Position
}

// Tick returns the last tick that has arrived.
func (s *Stream) Tick() lockstep.Tick { return s.dec.Tick() }

// Paused reports whether the match stands after the last tick, and whether the server has said since then that it goes on.
func (s *Stream) Paused() (paused, resumes bool) { return s.paused, s.resumes }

// Held notes that the server has said that the match stands, or goes on.
func (s *Stream) Held(goesOn bool) { s.resumes = goesOn }

// Break ends the stream: it cannot go on.
func (s *Stream) Break() { s.Streaming = false }

// Drop drops what comes until there is another state.
func (s *Stream) Drop() { s.Dropping = true }

// Take takes the next record, with which b begins.
func (s *Stream) Take(b []byte) (r *record.Record, rest []byte, err error) {
	r, rest, err = s.dec.Decode(b)
	if err == nil && r.Kind == record.KindKeyframe {
		err = fmt.Errorf("lockstep: client: %w: a keyframe in the stream", record.ErrOutOfPlace)
	}
	if err != nil {
		s.Break()
		return nil, b, err
	}
	s.Position++
	if r.Ticks() > 0 {
		s.expect(&r.Frame)
	}
	return r, rest, nil
}

// expect adjusts when later ticks are expected, after the commands of System in a frame.
func (s *Stream) expect(f *lockstep.Frame) {
	s.paused = false
	for i := range f.Commands {
		if f.Commands[i].Player != lockstep.System {
			continue
		}
		switch v := System(s.payloads, &f.Commands[i]).(type) {
		case *lockstep.SpeedSet:
			s.Speed = int64(v.Percent)
		case *lockstep.Paused:
			s.paused, s.resumes = true, false
		case *lockstep.Resumed:
			s.paused = false
		case *lockstep.InputDelaySet:
			s.InputDelay = lockstep.Tick(v.Ticks)
		}
	}
}

// System returns the value of a command of System, or nil.
func System(p *record.Payloads, cmd *lockstep.Command) any {
	own := *cmd
	p.Reset()
	if p.Decode(&own) != nil {
		return nil // the simulation will say so
	}
	return own.Value
}

// Ask begins to wait for another state, and reports false if that has failed too often.
func (s *Stream) Ask(now lockstep.Time) bool {
	if s.asks++; s.asks > maxAsks {
		return false
	}
	s.Await(now)
	return true
}

// Settled says that the last state was good.
func (s *Stream) Settled() { s.asks = 0 }

// Chunk takes a part of a state of at most limit bytes, and reports whether it is whole. It is valid until the next part.
func (s *Stream) Chunk(now lockstep.Time, m *protocol.Message, limit int) (a *Assembly, whole bool, err error) {
	if whole, err = s.assembly.add(m, limit); err != nil {
		s.Lost()
		return nil, false, fmt.Errorf("lockstep: client: %w", err)
	}
	s.waiting, s.most = now, max(s.most, len(s.assembly.Bytes))
	return &s.assembly, whole, nil
}

// Adopt goes on after a state, where a decoder stands.
func (s *Stream) Adopt(at protocol.Position, dec *record.Decoder) {
	s.Streaming, s.Dropping, s.Position = true, false, at
	s.dec = dec.Clone() // without the memory of the state
}

// Lost forgets the parts of a state that have come.
func (s *Stream) Lost() { s.assembly = Assembly{unpack: s.assembly.unpack} }

// Memory returns how many bytes have come of a state.
func (s *Stream) Memory() int { return cap(s.assembly.Bytes) }

// An Assembly puts the chunks of a state sync together.
type Assembly struct {
	unpack func(dst, piece []byte, most int) ([]byte, error)

	active   bool
	Position protocol.Position // of the record after it
	Tick     lockstep.Tick
	Total    uint32
	Bytes    []byte // that have come
}

// add takes the chunk of m, and reports whether the sync is complete. It takes memory only for bytes that have arrived.
func (a *Assembly) add(m *protocol.Message, limit int) (complete bool, err error) {
	if m.Offset == 0 {
		if m.Total == 0 || uint64(m.Total) > uint64(limit) {
			return false, fmt.Errorf("%w: got a state sync of %d bytes, want 1 to %d", record.ErrMalformed, m.Total, limit)
		}
		*a = Assembly{unpack: a.unpack, active: true, Position: m.Position, Tick: m.Tick, Total: m.Total, Bytes: a.Bytes[:0]}
	}
	switch {
	case !a.active:
		return false, fmt.Errorf("%w: a state sync begins at byte %d", record.ErrMalformed, m.Offset)
	case int(m.Offset) != len(a.Bytes) || m.Total != a.Total || m.Position != a.Position || m.Tick != a.Tick:
		return false, fmt.Errorf("%w: got a chunk at byte %d of %d, want byte %d of %d", record.ErrMalformed, m.Offset, m.Total, len(a.Bytes), a.Total)
	case len(m.Bytes) == 0:
		return false, fmt.Errorf("%w: an empty chunk", record.ErrMalformed)
	case m.Kind == protocol.KindPackedSync && a.unpack == nil:
		return false, fmt.Errorf("%w: a packed piece, which this client did not ask for", record.ErrMalformed)
	case m.Kind == protocol.KindPackedSync:
		//samestep:allow unseen what a piece inflates to is in RFC 1951
		if a.Bytes, err = a.unpack(a.Bytes, m.Bytes, int(a.Total)-len(a.Bytes)); err != nil {
			return false, fmt.Errorf("%w: %w", record.ErrMalformed, err)
		}
		return len(a.Bytes) == int(a.Total), nil
	}
	a.Bytes = append(a.Bytes, m.Bytes...)
	return len(a.Bytes) == int(a.Total), nil
}
