package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Send appends the next bytes for a peer, at most max: its private messages, then the chunks of a keyframe, then
// records. They are one WebSocket message, or empty if there is nothing to send. max counts as at least
// MaxServerMessage/2; a larger record is sent alone.
func (h *Host) Send(id PeerID, dst []byte, max int) []byte {
	p := h.peers.find(id)
	if p == nil {
		return dst
	}
	begin := len(dst)
	limit := begin + clampSize(max)
	calm := len(p.out) > 0 && p.calm == len(p.out) && !h.ending.Over() && p.holds(h.now, h.log.window(p))
	if !calm {
		dst = p.takePrivate(dst)
	}
	dst = p.appendWait(dst, &h.writer, h.now, h.pace)
	if k := p.stream.Keyframe(); k != nil {
		to, n, over := p.stream.AppendChunks(dst, &h.writer, limit, h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)))
		h.budget.TakeKeyframe(h.now, &p.tab, n, len(k.Bytes))
		h.stats.SyncBytes += uint64(n)
		if dst = to; over {
			p.state = CatchingUp
		}
	}
	if calm && len(dst) > begin {
		dst = p.takePrivate(dst)
	} else if calm {
		h.wake.at(p.hold(h.now))
	}
	switch {
	case !p.streams():
	case p.view != nil:
		dst = h.appendViews(p, dst, begin, limit)
	default:
		dst = h.appendRecords(p, dst, begin, limit)
	}
	h.stats.BytesOut += uint64(len(dst) - begin)
	return dst
}

// holds reports whether the records up to end may wait for the stream, because datagrams carry them.
func (p *peer) holds(now lockstep.Time, end protocol.Position) bool {
	return p.state == Live && p.datagrams.Holds(now, p.link.RTT(), p.stream.Cursor(), end)
}

// hold makes what a peer has to get wait for the stream, and returns until when.
func (p *peer) hold(now lockstep.Time) (until lockstep.Time) {
	p.datagrams.Hold(now)
	_, until = p.datagrams.Due(now)
	return until
}

// takePrivate appends the private messages.
func (p *peer) takePrivate(dst []byte) []byte {
	dst = append(dst, p.out...)
	if p.out, p.calm = p.out[:0], 0; cap(p.out) > keepPrivate {
		p.out = nil
	}
	return dst
}

func clampSize(size int) int {
	return min(max(size, protocol.MaxServerMessage/2), protocol.MaxServerMessage-roomClosing)
}

// appendRecords appends the next records of a peer.
func (h *Host) appendRecords(p *peer, dst []byte, begin, limit int) []byte {
	at := p.stream.Cursor()
	if !h.ring.Has(at) {
		h.strike(p)
		return dst
	}
	end := h.log.window(p)
	if g := p.datagrams; g != nil {
		if len(dst) == begin && at < end && !h.ending.Over() && p.holds(h.now, end) {
			h.wake.at(p.hold(h.now))
			return dst
		}
		if len(dst) > begin || at < end {
			g.Release()
		}
	}
	room := limit - len(dst)
	if len(dst) == begin {
		room = protocol.MaxServerMessage
		if at < end && len(h.ring.Record(at)) <= limit-begin {
			room = limit - begin
		}
	}
	dst, at = h.ring.AppendFrom(dst, at, end, room)
	p.stream.Sent(at)
	last := h.ring.Next()
	if h.c.Broken() {
		last = h.log.visible(p.reader()) // no other record will be persisted
	}
	if h.ending.Over() && at == last && len(dst) <= limit {
		p.sentEnd = true
		h.closeEnded(p)
		dst = p.takePrivate(dst)
	}
	return dst
}
