package host

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A viewing is what a peer has of its series.
type viewing struct {
	as      lockstep.Viewer // of a spectator
	series  *series         // nil until the first view
	greeted bool            // it knows the roster
	shown   []string        // the presence of each seat, as it knows it
	told    bool            // it knows the plan and whose view it gets
	sent    feed.Number
	highest feed.Number   // ever sent on the connection
	tick    lockstep.Tick // the last one that it was told
	unacked []feed.Number // sent, ascending
	delta   []byte        // being sent
	at      int           // bytes of it that were sent
	base    feed.Number
}

// begin begins with the whole view of a series.
func (v *viewing) begin(s *series) {
	v.series, v.told, v.sent = s, false, 0
	v.delta, v.at, v.unacked = v.delta[:0], 0, v.unacked[:0]
}

// viewDue reports whether a peer can be sent something of a view.
func (h *Host) viewDue(p *peer) bool {
	v := p.view
	switch {
	case v.series == nil || v.series.sender.Number() == 0:
		return false
	case v.at < len(v.delta):
		return true
	case len(v.unacked) >= maxUnacked:
		return false
	}
	return v.sent != v.series.sender.Number() || v.series.tick >= v.tick+h.options.AckEvery
}

// appendViews appends the next messages of views.
func (h *Host) appendViews(p *peer, dst []byte, begin, limit int) []byte {
	v := p.view
	if v.series != nil && !v.told {
		if len(dst) > begin && len(dst)+len(h.views.sync)+record.MaxName > limit {
			return dst // the next message has room
		}
		h.message = protocol.Message{
			Kind: protocol.KindViewSync, Text: v.series.viewer.String(), Players: h.header.Settings.Players, Every: uint16(h.options.Views.Every), Period: h.header.Settings.TickMicros, Bytes: h.views.sync,
		}
		dst = h.writer.Append(dst, &h.message)
		v.told = true
	}
	if !v.told {
		return dst // notes would seem to be of the roster
	}
	dst = h.appendNotes(p, dst, begin, limit)
	for h.viewDue(p) && len(dst)+chunkOverhead < limit {
		s := v.series
		if v.at == len(v.delta) {
			v.at, v.delta, v.base = 0, v.delta[:0], v.sent
			if v.sent != s.sender.Number() {
				base, delta := s.sender.Delta(v.sent)
				v.base, v.delta = base, append(v.delta, delta...)
			}
			v.sent, v.tick = s.sender.Number(), s.tick
			v.highest = max(v.highest, v.sent)
			h.stats.Views++
		}
		n := min(protocol.MaxChunk, len(v.delta)-v.at, limit-len(dst)-chunkOverhead)
		h.message = protocol.Message{
			Kind: protocol.KindViewDelta, View: uint64(v.sent), Base: uint64(v.base), Tick: v.tick,
			Offset: uint32(v.at), Total: uint32(len(v.delta)), Bytes: v.delta[v.at : v.at+n],
		}
		dst = h.writer.Append(dst, &h.message)
		h.stats.ViewBytes += uint64(n)
		if v.at += n; v.at == len(v.delta) && (len(v.unacked) == 0 || v.unacked[len(v.unacked)-1] != v.sent) {
			v.unacked = append(v.unacked, v.sent)
		}
	}
	if v.at == len(v.delta) && cap(v.delta) > protocol.MaxServerMessage {
		v.at, v.delta = 0, nil // a first view is large, and most that follow are small
	}
	if h.ending.Over() && h.viewed(p) && len(dst) <= limit {
		p.sentEnd = true
		h.closeEnded(p)
		dst = p.takePrivate(dst)
	}
	return dst
}

// viewed reports whether a peer was sent all of a match that is over.
func (h *Host) viewed(p *peer) bool {
	if h.c.Broken() {
		return true // no view follows
	}
	v := p.view
	return p.stream.Cursor() == h.ring.Next() && v.at == len(v.delta) && v.series != nil && v.sent == v.series.sender.Number() && v.series.tick == h.c.Now()
}

// appendNotes appends the records that a viewer gets: notes, events, and the end of the match.
func (h *Host) appendNotes(p *peer, dst []byte, begin, limit int) []byte {
	at := max(p.stream.Cursor(), h.ring.First())
	dst = h.appendPresence(p.view, dst)
	for end := h.visible(p); at < end; at++ {
		raw := h.ring.Record(at)
		if kind := record.KindOf(raw); kind != record.KindNote && kind != record.KindEvent && kind != record.KindEnd {
			continue
		}
		if len(dst) > begin && len(dst)+len(raw) > limit {
			break
		}
		dst = append(dst, raw...)
	}
	p.stream.Pass(at)
	return dst
}

// appendPresence appends an event for each seat whose presence has changed. Other clients learn it from commands of System.
func (h *Host) appendPresence(v *viewing, dst []byte) []byte {
	for i := range h.seats {
		if now := cmp.Or(h.seats[i].shown, record.PresenceVacant); v.shown[i] != now {
			v.shown[i] = now
			dst = append(dst, record.Event(lockstep.Player(i), record.EventPresence, now)...)
		}
	}
	return dst
}

// viewAck takes a viewer's progress.
func (h *Host) viewAck(p *peer, m *protocol.Message) {
	v := p.view
	if v == nil || m.View > uint64(v.highest) || m.Tick > v.tick {
		h.malformed(p, "an ack of a view that was not sent")
		return
	}
	n := 0
	for n < len(v.unacked) && v.unacked[n] <= feed.Number(m.View) {
		n++
	}
	v.unacked = slices.Delete(v.unacked, 0, n)
	p.stream.Reach(max(p.stream.Tick(), m.Tick))
	if h.viewDue(p) {
		h.mark(p)
	}
}

// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
const chunkOverhead = 32

// ofState reports whether only a client that simulates the match has what a message tells.
func ofState(k protocol.Kind) bool {
	return k == protocol.KindChecksum || k == protocol.KindState || k == protocol.KindResimulated || k == protocol.KindPhases || k == protocol.KindAck || k == protocol.KindPanicked
}

// memory returns the bytes of a view that is being sent.
func (v *viewing) memory() int {
	if v == nil {
		return 0
	}
	return cap(v.delta) + 8*cap(v.unacked)
}
