package syncing

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Policy limits how connections are brought to the present, and kept there.
type Policy struct {
	BytesPerTick int           // of a keyframe, in the time of a tick
	Timeout      lockstep.Time // to read a keyframe, and a second for each MiB
	Lag          lockstep.Tick // that a player may be behind
	AckEvery     lockstep.Tick
	Strikes      int // keyframes because a connection was too far behind

	Pack func(dst, raw []byte) []byte // see host.Options.Pack; or nil
}

// inFlight returns the most records without an ack.
func (p *Policy) inFlight() protocol.Position { return protocol.Position(p.Lag/2) + 64 }

// A Stream is what one connection was sent of a match, and how far it is.
type Stream struct {
	policy *Policy

	syncing   bool      // it has no state, and waits for a keyframe or is sent one
	Keyframe  *Keyframe // being sent
	Unpacks   bool      // it takes pieces that are packed
	sent      int       // bytes of it that were sent
	room      int       // bytes of it that may still be sent before more
	more      lockstep.Time
	confirmed bool          // an ack has arrived since the keyframe was sent
	Deadline  lockstep.Time // of auth, of the first ack after a sync, of reaching the present
	strikes   int
	struckAt  lockstep.Time

	Cursor protocol.Position // of the next record to send
	High   protocol.Position // the highest cursor so far
	acked  protocol.Position
	Tick   lockstep.Tick // the last simulated one, from its acks
	Began  lockstep.Tick // of the last keyframe that it was sent
}

// NewStream returns the Stream of a connection that has until a deadline to authenticate.
func NewStream(p *Policy, deadline lockstep.Time) Stream {
	return Stream{policy: p, Deadline: deadline}
}

// Begin begins to send a keyframe in place of the records up to it.
func (s *Stream) Begin(now, period lockstep.Time) {
	s.syncing, s.sent, s.confirmed = true, 0, false
	s.room, s.more = s.policy.BytesPerTick, now+period
	s.Deadline = now + s.policy.Timeout
}

// Give says which keyframe is sent. With nil the connection keeps waiting.
func (s *Stream) Give(k *Keyframe) {
	if s.Keyframe = k; k != nil {
		s.Deadline += lockstep.Second * lockstep.Time(len(k.Bytes)>>20)
	}
}

// Waits reports whether the connection waits for a keyframe.
func (s *Stream) Waits() bool { return s.syncing && s.Keyframe == nil }

// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
const chunkOverhead = 32

// AppendChunks appends messages with the next chunks of the keyframe to dst, as far as the limit of its length, and at most so many bytes of chunks
// as the account of the connection has room for. Chunks of a large one are packed for a connection that takes that; the time of a tick counts
// what they hold, because packing takes time. It returns their sum, and whether the whole keyframe was sent: then the stream goes
// on with the records after it.
func (s *Stream) AppendChunks(dst []byte, w *protocol.Writer, limit, room int) (to []byte, n int, over bool) {
	k := s.Keyframe
	large := s.Unpacks && s.policy.Pack != nil && len(k.Bytes) > protocol.MaxChunk
	for s.sent < len(k.Bytes) {
		if large && s.sent%protocol.MaxPiece == 0 && s.room > 0 {
			if raw, packed := k.piece(s.sent, s.policy.Pack); len(packed) > 0 {
				if len(packed) > room-n || len(dst)+len(packed)+chunkOverhead > limit {
					return dst, n, false
				}
				dst = w.Append(dst, &protocol.Message{
					Kind: protocol.KindPackedSync, Position: k.Position, Tick: k.Tick,
					Offset: uint32(s.sent), Total: uint32(len(k.Bytes)), Bytes: packed,
				})
				n += len(packed)
				s.sent += len(raw)
				s.room -= len(raw)
				continue
			}
		}
		size := min(protocol.MaxChunk, len(k.Bytes)-s.sent, s.room, room-n)
		if size <= 0 || len(dst)+size+chunkOverhead > limit {
			return dst, n, false
		}
		dst = w.Append(dst, &protocol.Message{
			Kind: protocol.KindStateSync, Position: k.Position, Tick: k.Tick,
			Offset: uint32(s.sent), Total: uint32(len(k.Bytes)), Bytes: k.Bytes[s.sent : s.sent+size],
		})
		n += size
		s.sent += size
		s.room -= size
	}
	s.syncing, s.Keyframe = false, nil
	s.Cursor, s.acked, s.Tick, s.Began = k.Position, k.Position, k.Tick, k.Tick
	s.High = max(s.High, k.Position)
	return dst, n, true
}

// More allows more of the keyframe once in the time of a tick, even while no ticks are sealed. It reports whether it did, and when it does
// next, or false and [Never] if nothing is being sent.
func (s *Stream) More(now, period lockstep.Time) (more bool, next lockstep.Time) {
	if s.Keyframe == nil {
		return false, Never
	}
	if more = now >= s.more; more {
		s.room, s.more = s.policy.BytesPerTick, now+period
	}
	return more, s.more
}

// Never is a time later than all others.
const Never lockstep.Time = 1<<63 - 1

// Resume continues with the record at a position, which the connection says that it lacks.
func (s *Stream) Resume(now lockstep.Time, at protocol.Position) {
	s.Cursor, s.High, s.acked = at, at, at
	s.syncing, s.Deadline = false, now+s.policy.Timeout
}

// Pass moves to a record without sending those before: a viewer gets only some of them, and acknowledges none.
func (s *Stream) Pass(to protocol.Position) {
	s.Cursor, s.acked, s.High = to, to, max(s.High, to)
}

// Window returns the position up to which records may be sent before the next ack.
func (s *Stream) Window() protocol.Position { return s.acked + s.policy.inFlight() }

// Sent says that the stream carried the records before a position.
func (s *Stream) Sent(to protocol.Position) {
	s.Cursor = to
	s.Carried(to)
}

// Carried says that a datagram carried the records before a position.
func (s *Stream) Carried(to protocol.Position) { s.High = max(s.High, to) }

// Outdated reports whether an ack is from before a keyframe.
func (s *Stream) Outdated(at protocol.Position) bool { return s.syncing || at < s.acked }

// Ack takes the progress of a client: its next record, and its last simulated tick.
func (s *Stream) Ack(now lockstep.Time, at protocol.Position, t lockstep.Tick) {
	s.acked, s.Tick = min(at, s.Cursor), t
	if !s.confirmed {
		s.confirmed, s.Deadline = true, now+s.policy.Timeout
	}
}

// Reach says which tick the connection knows, without an ack.
func (s *Stream) Reach(t lockstep.Tick) { s.Tick = t }

// Lag returns how many ticks the connection is behind.
func (s *Stream) Lag(present lockstep.Tick) lockstep.Tick { return present - min(s.Tick, present) }

// Near reports whether the connection is near enough to the present to be live.
func (s *Stream) Near(present lockstep.Tick) bool {
	return s.Lag(present) <= max(2*s.policy.AckEvery, s.policy.Lag/4)
}

// Behind reports whether a live connection is too far behind. A spectator may be behind by half as much as a player.
func (s *Stream) Behind(present lockstep.Tick, spectator bool) bool {
	if spectator {
		return s.Lag(present) > s.policy.Lag/2
	}
	return s.Lag(present) > s.policy.Lag
}

// Confirmed reports whether the client has the keyframe, and is only too slow to reach the present.
func (s *Stream) Confirmed() bool { return !s.syncing && s.confirmed }

// Strike counts that the connection was too far behind. It returns false if that was once too often. Ten minutes without a strike forgive
// one.
func (s *Stream) Strike(now lockstep.Time) bool {
	for s.strikes > 0 && now-s.struckAt > 600*lockstep.Second {
		s.strikes--
		s.struckAt += 600 * lockstep.Second
	}
	if s.strikes >= s.policy.Strikes {
		return false
	}
	s.strikes++
	s.struckAt = now
	return true
}

// Hurry gives a connection that was struck, and begins with a keyframe, less time.
func (s *Stream) Hurry(now, period lockstep.Time) {
	size := 0
	if s.Keyframe != nil {
		size = len(s.Keyframe.Bytes)
	}
	s.Deadline = min(s.Deadline, now+lockstep.Time(s.policy.Lag)*period+lockstep.Second*lockstep.Time(1+size>>20))
}

// Distrust forgets what the referee made after right, the last tick at which it was right. It reports whether the connection now waits for
// another keyframe.
func (s *Stream) Distrust(right lockstep.Tick) (waits bool) {
	if s.Began > right {
		s.Began = 0 // the state that it was sent may be wrong
	}
	if s.Keyframe == nil || s.Keyframe.Tick <= right {
		return false
	}
	s.Keyframe, s.sent = nil, 0
	return true
}

// Forgive adds time to the deadline, in which the host did not run.
func (s *Stream) Forgive(late lockstep.Time) { s.Deadline += late }

// Close ends the sending of a keyframe.
func (s *Stream) Close() { s.syncing, s.Keyframe = false, nil }

// Check returns an error if the stream is inconsistent. next is the end of the log, and streams says that the connection is sent records.
func (s *Stream) Check(next protocol.Position, streams bool) error {
	switch {
	case s.Cursor > next || s.acked > s.High || s.Cursor > s.High:
		return fmt.Errorf("cursor %d, acked %d, highest %d, log %d", s.Cursor, s.acked, s.High, next)
	case streams && s.Cursor-min(s.acked, s.Cursor) > s.policy.inFlight():
		return fmt.Errorf("%d records on their way", s.Cursor-s.acked)
	case streams && s.Keyframe != nil:
		return fmt.Errorf("it has a keyframe")
	}
	return nil
}
