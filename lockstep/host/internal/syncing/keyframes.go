// Package syncing brings connections to the present of a match, and keeps them there: which records and states a reader may
// have, with which state somebody joins, and how far each connection is. It is one of the machines of lockstep/host, and holds
// positions and states.
//
// # The barrier
//
// A [Barrier] hides records that are not durable in the log from all readers, and recent ticks from late ones: the spectators
// of a match with a delay. The host says where the records of each tick end ([Barrier.Seal]) and what is durable
// ([Barrier.Durable], [Barrier.Reveal]). It asks what a reader may have: [Barrier.Visible] now, and [Barrier.Shown] once it is
// durable.
//
// # Keyframes
//
// A connection that joins, or falls too far behind, is sent a [Keyframe] and then the records after it. [Keyframes] holds the
// latest one, which all joiners share while it is young and the ring has the records after it. With a delay it also holds the
// earlier ones that late readers may see:
//
//	made ──► latest ──► kept, until late readers may see a later one ──► gone, when its last transfer ends
//
// For each joiner the host asks [Keyframes.Latest], which may say that another one is due ([Keyframes.Make]), and then
// [Keyframes.For] what this reader may have. A reader whose keyframe is not durable yet waits for it ([Keyframes.Awaited]). If the
// referee was wrong, [Keyframes.Distrust] drops the keyframes made since, and another one is due at once.
//
// # Donors
//
// A match without a referee has no state of its own. [Donors] finds one among the players. It remembers where the records of
// each checked tick end ([Donors.Remember]). When a joiner needs a state, [Donors.Wants] says how many players may be asked now:
// one, and with each second one more than have not answered. The host finds the players who reported the agreed
// checksum of a tick ([Donors.Moments], latest first), and [Donors.Ask] chooses those that were asked least recently. An answer
// becomes a keyframe if it has that checksum ([Donors.Take]) and is later than the latest one ([Keyframes.After]). A liar cannot
// give a false state as long as most reports are right.
//
// # Streams
//
// A [Stream] is what one connection was sent, and how far it is. The host keeps the state of the connection that others see
// (PeerState); the stream has what changes it:
//
//	NewStream          Begin           Give                     AppendChunks             Near
//	   auth  ───────► waiting ───────► being sent a keyframe ───────► catching up ───────► live
//	     │               ▲ ▲                                            ▲  │                │
//	     └─── Resume ────┼─┼────────────────────────────────────────────┘  │                │
//	                     │ └──────────── the ring has passed it by ────────┘                │
//	                     └────────── too far behind (Behind), desynced, or asked ───────────┘
//
// The host sends chunks of the keyframe ([Stream.AppendChunks]), as many as the account of the connection and the time of a
// tick ([Stream.More]) allow. Then it sends records, from [Stream.Cursor] to [Stream.Window], which an ack moves on
// ([Stream.Ack]). Datagrams carry records beside it ([Stream.Carried]).
//
// Until it is live, a connection has a [Stream.Deadline]: to authenticate, to acknowledge the keyframe, and from then on to reach
// the present. A connection that has the keyframe and is too slow ([Stream.Confirmed]), or that is live and too far behind, is
// struck: it begins again with another keyframe in less time ([Stream.Hurry]). When [Stream.Strike] returns false, the
// host closes it.
//
// A viewer gets no keyframe and acknowledges no record: its stream passes over the records ([Stream.Pass]).
//
//samestep:deterministic
package syncing

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Barrier hides recent ticks from late readers, and records that are not durable from all.
type Barrier struct {
	delay     lockstep.Tick
	Persisted protocol.Position   // records before it are durable in the log
	late      protocol.Position   // late readers may see the records before it once they are durable
	ends      []protocol.Position // the end of the records of tick t, at t modulo its length, which is the delay + 1
}

// Begin prepares the barrier of a match that begins, or continues, at a tick whose records end at a position.
func (b *Barrier) Begin(delay, t lockstep.Tick, end protocol.Position) {
	if b.delay = delay; delay > 0 {
		b.ends = make([]protocol.Position, delay+1)
		b.Seal(t, end)
	}
}

// Seal says where the records of a sealed tick end.
func (b *Barrier) Seal(t lockstep.Tick, end protocol.Position) {
	if b.delay > 0 {
		b.ends[t%(b.delay+1)] = end
	}
}

// Durable says that the records before a position are durable.
func (b *Barrier) Durable(upTo protocol.Position) { b.Persisted = upTo }

// Reveal shows late readers what they may see after the tick now.
func (b *Barrier) Reveal(now lockstep.Tick) { b.late = b.Hidden(now) }

// Hidden returns the position of the first record that is hidden from late readers after the tick now.
func (b *Barrier) Hidden(now lockstep.Tick) protocol.Position {
	if b.delay > 0 && now >= b.delay {
		// After a recovery it is 0, which hides all records, until the last recovered tick may be seen.
		return b.ends[(now-b.delay)%(b.delay+1)]
	}
	return 1
}

// Shown returns the position of the first record that a reader may not see even if it is durable. next is the end of the log.
func (b *Barrier) Shown(late bool, next protocol.Position) protocol.Position {
	if late {
		return min(next, b.late)
	}
	return next
}

// Visible returns the position of the first record that a reader may not see.
func (b *Barrier) Visible(late bool, next protocol.Position) protocol.Position {
	return min(b.Shown(late, next), b.Persisted)
}

// A Keyframe is a state in the form that a joiner gets: the header record, a keyframe record, and the notes and events of the roster.
// It is encoded once, and shared by all connections that join until the next one.
type Keyframe struct {
	Bytes    []byte
	Tick     lockstep.Tick
	Position protocol.Position // of the first record after it
	made     lockstep.Time
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
	n := len(s.latest.Bytes)
	for _, k := range s.late {
		if k != s.latest {
			n += len(k.Bytes)
		}
	}
	return n
}

// Donors are the players of a match without a referee, who give joiners a state.
type Donors struct {
	every   lockstep.Tick // ticks between checks
	moments []moment      // of the last checked ticks
	asked   []int         // of each seat, the number of the last request; 0 for none
	last    int           // the number of the last request
	askAt   lockstep.Time // when other players are asked, too
}

// A moment is a checked tick at which a joiner could begin.
type moment struct {
	tick     lockstep.Tick
	position protocol.Position // of the first record after its frame
	last     []record.LastSequence
}

// patience is the time that a player has to send a state before other players are asked as well.
const patience = lockstep.Second

// NewDonors returns the donors of a match.
func NewDonors(s lockstep.Settings) Donors {
	return Donors{every: lockstep.Tick(s.CheckEvery), asked: make([]int, s.Players)}
}

// Remember remembers a tick that was just sealed, if it is checked: where its records end, and the last sequences of the players, which it copies.
func (d *Donors) Remember(t lockstep.Tick, end protocol.Position, last []record.LastSequence) {
	if t%d.every != 0 {
		return
	}
	if d.moments == nil {
		d.moments = make([]moment, record.CheckWindow)
	}
	m := d.at(t)
	*m = moment{t, end, append(m.last[:0], last...)}
}

func (d *Donors) at(t lockstep.Tick) *moment {
	return &d.moments[t/d.every%record.CheckWindow]
}

// Wants returns how many more players may be asked for a state now, if some have not answered yet. Each second without an
// answer it is one more than these.
func (d *Donors) Wants(now lockstep.Time, unanswered int) int {
	if d.moments == nil || now < d.askAt {
		return 0 // the host asks again
	}
	return 1 + unanswered
}

// Moments returns the ticks at which a joiner could begin, latest first. The ring begins at first.
func (d *Donors) Moments(now lockstep.Tick, first protocol.Position) (all []lockstep.Tick) {
	for t, i := now/d.every*d.every, 0; t > 0 && i < record.CheckWindow; t, i = t-d.every, i+1 {
		if m := d.at(t); m.tick == t && first <= m.position {
			all = append(all, t)
		}
	}
	return all
}

// An Offer is a tick at which a joiner could begin, and the players who could give its state.
type Offer struct {
	Tick    lockstep.Tick
	Players []lockstep.Player
}

// A Request asks a player for its state of a tick.
type Request struct {
	Player lockstep.Player
	Tick   lockstep.Tick
}

// Ask chooses some players, each one for a state of the first offer that it is in. Of an offer it chooses those that were asked least recently.
func (d *Donors) Ask(now lockstep.Time, most int, offers []Offer) (all []Request) {
	for _, o := range offers {
		slices.SortStableFunc(o.Players, func(a, b lockstep.Player) int { return cmp.Compare(d.asked[a], d.asked[b]) })
		for _, p := range o.Players {
			if len(all) == most || slices.ContainsFunc(all, func(r Request) bool { return r.Player == p }) {
				continue
			}
			all = append(all, Request{p, o.Tick})
		}
	}
	for _, r := range all {
		d.last++
		d.asked[r.Player], d.askAt = d.last, now+patience
	}
	return all
}

// Leave forgets that a seat's player was asked.
func (d *Donors) Leave(p lockstep.Player) { d.asked[p] = 0 }

// Take returns what a player's state gives for a keyframe, if it has the checksum on which the players agree. Otherwise another player is
// asked at once. k is the check of its tick, and ok says that there is one. The ring begins at first.
func (d *Donors) Take(now lockstep.Time, t lockstep.Tick, state []byte, hash uint64, k coordinator.Check, ok bool, first protocol.Position) *State {
	m := d.at(t)
	if state == nil || !ok || k.Status != coordinator.CheckAgreed || k.Hash != hash || m.tick != t || first > m.position {
		d.askAt = now
		return nil
	}
	return &State{Tick: t, Hash: hash, Last: m.last, Bytes: state, Position: m.position}
}
