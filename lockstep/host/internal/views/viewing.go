package views

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxUnacked is the number of views that a viewer may have without an ack. Then it is sent no more until one comes.
	maxUnacked = 8

	// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
	chunkOverhead = 32
)

// A Viewing is what a connection has of its series.
type Viewing struct {
	series  *series  // nil until the first view
	greeted bool     // Begin was called
	shown   []string // the presence of each seat, as the viewer knows it
	told    bool     // it knows the plan and whose view it gets
	sent    feed.Number
	highest feed.Number   // ever sent on the connection
	tick    lockstep.Tick // the last one that it was told
	unacked []feed.Number // sent, ascending
	delta   []byte        // being sent
	at      int           // bytes of it that were sent
	base    feed.Number
}

// NewViewing returns what a new connection has, in a match with so many seats.
func NewViewing(seats int) *Viewing { return &Viewing{shown: make([]string, seats)} }

// Begin makes the next view a whole one. It reports whether the connection has had none before, and does not know the roster.
func (x *Viewing) Begin() (first bool) {
	first, x.greeted = !x.greeted, true
	x.begin(nil)
	return first
}

// begin begins with the whole view of a series.
func (x *Viewing) begin(s *series) {
	x.series, x.told, x.sent = s, false, 0
	x.delta, x.at, x.unacked = x.delta[:0], 0, x.unacked[:0]
}

// Present takes the presence of a seat, and reports whether the viewer does not know it yet. "" is a vacant seat.
func (x *Viewing) Present(seat lockstep.Player, presence string) (now string, changed bool) {
	now = cmp.Or(presence, record.PresenceVacant)
	changed = x.shown[seat] != now
	x.shown[seat] = now
	return now, changed
}

// Err returns why the connection gets no view.
func (x *Viewing) Err() error {
	if x.series == nil {
		return nil
	}
	return x.series.err
}

// Due reports whether the connection can be sent something of a view. It is told every ackEvery ticks that nothing has changed.
func (x *Viewing) Due(ackEvery lockstep.Tick) bool {
	switch {
	case x.series == nil || x.series.sender.Number() == 0:
		return false
	case x.at < len(x.delta):
		return true
	case len(x.unacked) >= maxUnacked:
		return false
	}
	return x.sent != x.series.sender.Number() || x.series.tick >= x.tick+ackEvery
}

// AppendDeltas appends the next chunks of views. It returns how many views it began, and the bytes of the chunks.
func (x *Viewing) AppendDeltas(dst []byte, w *protocol.Writer, limit int, ackEvery lockstep.Tick) (_ []byte, begun, bytes int) {
	for x.Due(ackEvery) && len(dst)+chunkOverhead < limit {
		if x.at == len(x.delta) {
			x.next()
			begun++
		}
		n := min(protocol.MaxChunk, len(x.delta)-x.at, limit-len(dst)-chunkOverhead)
		dst = w.Append(dst, &protocol.Message{
			Kind: protocol.KindViewDelta, View: uint64(x.sent), Base: uint64(x.base), Tick: x.tick,
			Offset: uint32(x.at), Total: uint32(len(x.delta)), Bytes: x.delta[x.at : x.at+n],
		})
		bytes += n
		if x.at += n; x.at == len(x.delta) && (len(x.unacked) == 0 || x.unacked[len(x.unacked)-1] != x.sent) {
			x.unacked = append(x.unacked, x.sent)
		}
	}
	if x.at == len(x.delta) && cap(x.delta) > protocol.MaxServerMessage {
		x.at, x.delta = 0, nil // a first view is large, and most that follow are small
	}
	return dst, begun, bytes
}

// next begins to send the latest view.
func (x *Viewing) next() {
	s := x.series
	x.at, x.delta, x.base = 0, x.delta[:0], x.sent
	if x.sent != s.sender.Number() {
		base, delta := s.sender.Delta(x.sent)
		x.base, x.delta = base, append(x.delta, delta...)
	}
	x.sent, x.tick = s.sender.Number(), s.tick
	x.highest = max(x.highest, x.sent)
}

// Ack takes a viewer's progress. It returns false for what was not sent.
func (x *Viewing) Ack(view uint64, tick lockstep.Tick) bool {
	if view > uint64(x.highest) || tick > x.tick {
		return false
	}
	n := 0
	for n < len(x.unacked) && x.unacked[n] <= feed.Number(view) {
		n++
	}
	x.unacked = slices.Delete(x.unacked, 0, n)
	return true
}

// Complete reports whether the connection was sent the whole view of a tick.
func (x *Viewing) Complete(tick lockstep.Tick) bool {
	return x.at == len(x.delta) && x.series != nil && x.sent == x.series.sender.Number() && x.series.tick == tick
}

// Memory returns the bytes of a view that is being sent. Nil has none.
func (x *Viewing) Memory() int {
	if x == nil {
		return 0
	}
	return cap(x.delta) + 8*cap(x.unacked)
}
