package syncing

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Keyframe is a state in the form that a joiner gets: the header record, a keyframe record, and the notes and events of the roster.
// It is encoded once, and shared by all connections that join until the next one.
type Keyframe struct {
	Bytes    []byte
	Tick     lockstep.Tick
	Position protocol.Position // of the first record after it
	made     lockstep.Time

	packed [][]byte // by piece: as Policy.Pack makes it, once somebody needs it; empty if it is sent as it is
	memory int      // of these
}

// Memory returns the bytes of the keyframe, and of those of its pieces that are packed.
func (k *Keyframe) Memory() int { return len(k.Bytes) + k.memory }

// piece returns the piece of [protocol.MaxPiece] bytes, fewer at the end, that begins at a byte, and its packed form, empty if it is
// sent in chunks.
func (k *Keyframe) piece(at int, pack func(dst, raw []byte) []byte) (raw, packed []byte) {
	i := at / protocol.MaxPiece
	raw = k.Bytes[at:min(len(k.Bytes), at+protocol.MaxPiece)]
	if k.packed == nil {
		k.packed = make([][]byte, (len(k.Bytes)+protocol.MaxPiece-1)/protocol.MaxPiece)
	}
	if k.packed[i] == nil {
		p := pack(make([]byte, 0, 64), raw)
		k.packed[i] = append(make([]byte, 0, len(p)), p...)
		k.memory += len(p)
	}
	return raw, k.packed[i]
}

// Keyframes are those of a match with which somebody can join.
type Keyframes struct {
	interval  lockstep.Time // between two that are made
	elsewhere bool          // they are not made here, but taken from players
	latest    *Keyframe
	late      []*Keyframe // for late readers, oldest first: the latest visible one, and later ones; none without late readers
	Made      uint64
	awaited   bool // a reader waits for a keyframe that is not durable

	enc   record.Encoder
	state []byte
}

// NewKeyframes returns those of a match, which makes at most one in an interval, or takes them from players.
func NewKeyframes(interval lockstep.Time, elsewhere bool) Keyframes {
	return Keyframes{interval: interval, elsewhere: elsewhere}
}

// First takes the state with which the log begins, unless there is one.
func (s *Keyframes) First(header, raw []byte) {
	if s.latest == nil {
		s.latest = &Keyframe{Bytes: slices.Concat(header, raw), Position: 1}
	}
}

// Begin says that the match begins, or continues, with the latest keyframe, after a tick. hides says that there are late readers.
func (s *Keyframes) Begin(now lockstep.Time, t lockstep.Tick, hides bool) (at protocol.Position) {
	s.latest.Tick, s.latest.made = t, now
	if hides {
		s.late = append(s.late, s.latest)
	}
	return s.latest.Position
}

// A State is what a keyframe is made of.
type State struct {
	Header   []byte // the header record
	Tick     lockstep.Tick
	Hash     uint64
	Last     []record.LastSequence
	Bytes    []byte // in canonical form
	Roster   []byte // notes and events
	Position protocol.Position
}

// Put makes a state the latest keyframe.
func (s *Keyframes) Put(now lockstep.Time, x *State) *Keyframe {
	s.enc.BeginKeyframe()
	s.latest = &Keyframe{
		Bytes: slices.Concat(x.Header, s.enc.Keyframe(x.Tick, x.Hash, x.Last, x.Bytes), x.Roster),
		Tick:  x.Tick, Position: x.Position, made: now,
	}
	return s.latest
}

// Make makes the simulation's state the latest keyframe; x has the rest.
func (s *Keyframes) Make(now lockstep.Time, sim *lockstep.Simulation, x *State) *Keyframe {
	s.state = sim.AppendState(s.state[:0])
	x.Tick, x.Hash, x.Bytes = sim.Tick(), sim.Hash(), s.state
	s.Made++
	return s.Put(now, x)
}

// Take makes a player's state the latest keyframe.
func (s *Keyframes) Take(now lockstep.Time, x *State) {
	s.Made++
	s.Put(now, x)
}

// Latest returns the latest keyframe, or nil if it is too old, or the ring has no longer the records after it, which begins at first. due says that
// another one can be made.
func (s *Keyframes) Latest(now lockstep.Time, first protocol.Position) (k *Keyframe, due bool) {
	young := now < s.latest.made+s.interval
	switch {
	case first <= s.latest.Position && (s.elsewhere || young):
		return s.latest, false
	case s.elsewhere:
		return nil, false
	}
	return nil, !young || s.Made == 0
}

// After returns whether a position is after that of the latest keyframe.
func (s *Keyframes) After(p protocol.Position) bool { return p > s.latest.Position }

// Keep keeps a keyframe for late readers, to whom the records from a position on are hidden. It drops a keyframe if they may already see a later one.
func (s *Keyframes) Keep(k *Keyframe, hidden protocol.Position) {
	if s.late[len(s.late)-1] != k {
		s.late = append(s.late, k)
	}
	drop := 0
	for drop+1 < len(s.late) && s.late[drop+1].Position <= hidden {
		drop++
	}
	s.late = slices.Delete(s.late, 0, drop)
}

// For returns the latest keyframe that a reader may see, or nil. k is the latest one, or nil. shown and visible are the reader's, and first is
// where the ring begins.
func (s *Keyframes) For(k *Keyframe, shown, visible, first protocol.Position) *Keyframe {
	if k != nil && k.Position <= visible {
		return k
	}
	if k != nil && k.Position <= shown {
		s.awaited = true
		return nil
	}
	for i := len(s.late) - 1; i >= 0; i-- {
		if k := s.late[i]; k.Position <= visible && first <= k.Position {
			return k
		}
	}
	return nil
}

// Awaited reports whether a reader has waited for a keyframe to become durable since the last call.
func (s *Keyframes) Awaited() bool {
	before := s.awaited
	s.awaited = false
	return before
}

// UntilSeen returns the number of ticks after now until late readers can see anything. After a recovery it is the whole delay.
func (s *Keyframes) UntilSeen(now, delay lockstep.Tick) lockstep.Tick {
	if delay == 0 || s.late[0].Tick == 0 {
		return 0
	}
	return s.late[0].Tick + delay - min(now, s.late[0].Tick+delay)
}

// Distrust makes another keyframe due, and drops those that nobody has seen and that the referee made after right, the last tick at which it was
// right.
func (s *Keyframes) Distrust(now lockstep.Time, right lockstep.Tick) {
	s.latest.made = now - s.interval
	if len(s.late) > 1 {
		later := slices.DeleteFunc(s.late[1:], func(k *Keyframe) bool { return k.Tick > right })
		s.late = s.late[:1+len(later)]
	}
}

// Keeps reports whether a keyframe is one of these, and not only sent to somebody.
func (s *Keyframes) Keeps(k *Keyframe) bool { return k == s.latest || slices.Contains(s.late, k) }

// Memory returns the bytes of the keyframes.
func (s *Keyframes) Memory() int {
	n := s.latest.Memory()
	for _, k := range s.late {
		if k != s.latest {
			n += k.Memory()
		}
	}
	return n
}
