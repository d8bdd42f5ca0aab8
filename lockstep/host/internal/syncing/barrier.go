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
// ([Stream.Ack]). Datagrams can carry the same records ([Stream.Carried]).
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
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
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
