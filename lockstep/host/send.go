package host

import (
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
	calm := len(p.out) > 0 && p.calm == len(p.out) && h.holds(p, h.log.window(p))
	if !calm {
		dst = p.takePrivate(dst)
	}
	dst = h.appendWait(p, dst)
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
		h.hold(p)
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
		if len(dst) == begin && at < end && h.holds(p, end) {
			h.hold(p)
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

// holds reports whether the records up to end may wait for the stream, because datagrams carry them.
func (h *Host) holds(p *peer, end protocol.Position) bool {
	return p.state == Live && !h.ending.Over() && p.datagrams.Holds(h.now, p.link.RTT(), p.stream.Cursor(), end)
}

// hold makes what a peer has to get wait for the stream.
func (h *Host) hold(p *peer) {
	p.datagrams.Hold(h.now)
	_, next := p.datagrams.Due(h.now)
	h.wakeAt(next)
}

// datagramTime sends datagrams again that are due, and lets the stream carry what has waited long enough, or what datagrams carry no
// longer.
func (h *Host) datagramTime(p *peer) {
	if p.datagrams == nil {
		return
	}
	due, next := p.datagrams.Due(h.now)
	if due {
		h.peers.mark(p)
	}
	h.wakeAt(next)
}
