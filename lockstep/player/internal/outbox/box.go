// Package outbox has the messages that a player's client has to send, but for its answers to the referee. All of it is bounded: what
// is said twice is merged.
//
// A [Box] outlives connections. It has no clock and no connection: its owner says what is wanted, and when there is room asks for it.
//
// # What waits
//
//	Want            short messages without more to them: once each, on the present connection
//	Leave, Panic    the last words
//	Chat            lines, at most MaxChat; those of a lost connection are sent on the next one
//	Report          checked ticks, the last ones; their checksums are read when they are sent
//	Arrived         an acknowledgement, see below
//
// # Acknowledgements
//
//	nothing new ──Arrived, or a tick has run──> new ──(it is due)──> acknowledged
//
// What is new is acknowledged once AckEvery ticks have run, 32 records have come, or a second has passed since the last one, and at once
// after a state or a resume ([Box.AckSoon]). A client whose backlog is full acknowledges nothing, so that the server sees that it lags.
//
// # Who calls what
//
//	a connection is open      Begin, Want(Auth)
//	a record has come         Arrived
//	a state was taken         Adopted
//	something may be sent     Take(Auth) or TakePanic; otherwise Small, Reports, Commands, and at last Take(Leave)
//
//samestep:deterministic
package outbox

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Want is a short message.
type Want uint8

// The short messages.
const (
	Auth Want = 1 << iota
	Pong
	Ping
	Ready // whether the player is ready
	Sync  // for a state
	Leave
)

// MaxChat is how many lines of chat wait.
const MaxChat = 16

// ackRecords is after how many records the client acknowledges at the latest. A burst of notes has many in few ticks, and
// the server sends only so many that are not acknowledged.
const ackRecords = 32

// A Box has what is to be sent.
type Box struct {
	wants   Want
	nonce   uint64 // of the pong
	reason  string // of leaving
	panic   *lockstep.PanicError
	arrived bool          // something, since the last ack
	adopted bool          // a state, since then
	acked   lockstep.Tick // in the last ack
	ackedTo protocol.Position
	ackedAt lockstep.Time
	reports []lockstep.Tick // checked ticks to report
	chat    []string
	writer  protocol.Writer
	message protocol.Message
}

// Begin forgets the messages of the connection before. Reports and chat stay.
func (b *Box) Begin() {
	*b = Box{reports: b.reports, chat: b.chat, acked: b.acked, ackedTo: b.ackedTo, writer: b.writer, message: b.message}
}

// Want notes that short messages are to be sent.
func (b *Box) Want(w Want) { b.wants |= w }

// Wants reports whether a short message is to be sent.
func (b *Box) Wants(w Want) bool { return b.wants&w != 0 }

// Take takes a short message that is to be sent.
func (b *Box) Take(w Want) bool {
	wanted := b.Wants(w)
	b.wants &^= w
	return wanted
}

// Pong answers a ping.
func (b *Box) Pong(nonce uint64) {
	b.Want(Pong)
	b.nonce = nonce
}

// Reason notes why the player leaves, when it does.
func (b *Box) Reason(text string) { b.reason = text }

// Panic notes that the rules have panicked: it is the last word.
func (b *Box) Panic(p *lockstep.PanicError) { b.panic = p }

// Chat queues a line, and reports false if too many wait.
func (b *Box) Chat(text string) bool {
	if len(b.chat) == MaxChat {
		return false
	}
	b.chat = append(b.chat, text)
	return true
}

// Report queues the report of a checked tick. With too many the oldest is dropped.
func (b *Box) Report(t lockstep.Tick) {
	if len(b.reports) == record.CheckWindow {
		b.reports = b.reports[:copy(b.reports, b.reports[1:])]
	}
	b.reports = append(b.reports, t)
}

// Arrived notes that a record has come.
func (b *Box) Arrived() { b.arrived = true }

// AckSoon notes that the server waits for an acknowledgement, even if nothing follows, as in a paused match.
func (b *Box) AckSoon() { b.arrived, b.adopted = true, true }

// Adopted notes that a state of a tick was taken: the reports of the stream before are void.
func (b *Box) Adopted(t lockstep.Tick) {
	b.AckSoon()
	b.acked, b.reports = t, b.reports[:0]
}

// Progress is how far the client is.
type Progress struct {
	Now      lockstep.Time
	Tick     lockstep.Tick
	Position protocol.Position // at which the stream can go on; 0 while it waits for a state
	Full     bool              // its backlog
	Every    lockstep.Tick     // from one acknowledgement to the next
}

// ackDue reports whether an acknowledgement is due. A client whose backlog is full does not acknowledge more.
func (b *Box) ackDue(p *Progress) bool {
	if p.Position == 0 || !b.arrived && p.Tick == b.acked || p.Full {
		return false
	}
	return b.adopted || p.Tick >= b.acked+p.Every || p.Position >= b.ackedTo+ackRecords || p.Now-b.ackedAt >= lockstep.Second
}

// Append appends a message.
func (b *Box) Append(dst []byte, m *protocol.Message) []byte { return b.writer.Append(dst, m) }

// Small appends the short messages but for the first and the last, and another one or nil. Together they fill less than half of a
// WebSocket message. ping is the nonce of a ping, if one is wanted, and ready what the player is.
func (b *Box) Small(dst []byte, p *Progress, ping uint64, ready bool, other *protocol.Message) []byte {
	m := &b.message
	if b.Take(Pong) {
		*m = protocol.Message{Kind: protocol.KindPong, Nonce: b.nonce, Tick: p.Tick}
		dst = b.Append(dst, m)
	}
	if b.Take(Ping) {
		*m = protocol.Message{Kind: protocol.KindPing, Nonce: ping}
		dst = b.Append(dst, m)
	}
	if b.Take(Ready) {
		*m = protocol.Message{Kind: protocol.KindReady, Ready: ready}
		dst = b.Append(dst, m)
	}
	if b.Take(Sync) {
		*m = protocol.Message{Kind: protocol.KindStateSyncRequest}
		dst = b.Append(dst, m)
	}
	if other != nil {
		dst = b.Append(dst, other)
	}
	if b.ackDue(p) {
		b.acked, b.ackedTo, b.ackedAt, b.arrived, b.adopted = p.Tick, p.Position, p.Now, false, false
		*m = protocol.Message{Kind: protocol.KindAck, Position: p.Position, Tick: p.Tick}
		dst = b.Append(dst, m)
	}
	for _, text := range b.chat {
		*m = protocol.Message{Kind: protocol.KindChat, Text: text}
		dst = b.Append(dst, m)
	}
	clear(b.chat)
	b.chat = b.chat[:0]
	return dst
}

// Reports appends the checksums of f that are to be reported, to a WebSocket message that begins at start. Too old ones, by the last
// sealed tick, are not compared any more.
func (b *Box) Reports(dst []byte, start int, f *lockstep.Follower, sealed lockstep.Tick) []byte {
	if len(b.reports) == 0 {
		return dst
	}
	horizon := (record.CheckWindow - 2) * lockstep.Tick(f.Header().Settings.CheckEvery)
	for i, t := range b.reports {
		if !Room(dst, start, 9*protocol.MaxSections) {
			b.reports = b.reports[:copy(b.reports, b.reports[i:])]
			return dst
		}
		sum, ok := f.Sum(t)
		if !ok || t < sealed && sealed-t > horizon {
			continue // too old to be compared
		}
		b.message = protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: sum.Hash, Sections: sum.Sections}
		if len(sum.Sections) > protocol.MaxSections {
			b.message.Sections = nil
		}
		dst = b.Append(dst, &b.message)
	}
	b.reports = b.reports[:0]
	return dst
}

// Commands appends the commands that no stream of this connection has carried.
func (b *Box) Commands(dst []byte, start int, pending []*datagram.Pending) []byte {
	for _, s := range pending {
		if s.Streamed {
			continue
		}
		if !Room(dst, start, len(s.Payload)) {
			return dst
		}
		s.Streamed = true
		b.message = protocol.Message{Kind: protocol.KindCommand, Sequence: s.Sequence, Command: s.Kind, Bytes: s.Payload}
		dst = b.Append(dst, &b.message)
	}
	return dst
}

// Last appends the last words: that the rules have panicked, or that the player leaves once nothing waits any more.
func (b *Box) Last(dst []byte, waits bool) []byte {
	switch p := b.panic; {
	case p != nil:
		b.panic = nil
		b.message = protocol.Message{Kind: protocol.KindPanicked, Tick: p.Tick, Field: p.Where, Text: fmt.Sprint(p.Value), Stack: string(p.Stack)}
	case !waits && b.Take(Leave):
		b.message = protocol.Message{Kind: protocol.KindLeave, Text: b.reason}
	default:
		return dst
	}
	return b.Append(dst, &b.message)
}

// Panicked reports whether the last word is that the rules have panicked.
func (b *Box) Panicked() bool { return b.panic != nil }

// Room reports whether a message of some bytes still fits into the WebSocket message that begins at start.
func Room(dst []byte, start, bytes int) bool {
	return len(dst)-start+bytes+64 <= protocol.MaxClientMessage
}

// Memory returns how many bytes of text wait.
func (b *Box) Memory() (n int) {
	for _, text := range b.chat {
		n += len(text)
	}
	return n
}
