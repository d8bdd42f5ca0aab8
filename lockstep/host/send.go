package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
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

// A ViewPolicy says how a Host sends views. A view is what a viewer may see of the state (see package feed). Its client gets
// views instead of the match's records. Clients that ask for them get views of any match whose game has some.
type ViewPolicy struct {
	// Only sends nothing else to any client, so that nobody but the server holds the whole state. It needs a game with views.
	Only bool

	Every  lockstep.Tick // ticks from one view to the next: a tenth of a second
	Budget int           // bytes of a view; the rest is sent later, by priority: no limit
}

// newViews returns the views of a match, or nil if it has none.
func newViews(g *lockstep.Game, s *lockstep.Settings, o *Options) (*views.Views, error) {
	if g.ViewSchema() != nil && !o.Relay {
		return views.New(g, s, o.Views.Every, o.Views.Budget)
	}
	if o.Views.Only {
		return nil, fmt.Errorf("lockstep: host: views only: want a game with views, and a referee")
	}
	return nil, nil
}

// makeViews makes the views that are due, once all of the match's records are durable.
func (h *Host) makeViews(now bool) {
	if h.views == nil || h.log.barrier.Persisted() < h.ring.Next() || h.c.Broken() || !h.views.Begin(h.c.Now(), now || h.ending.Over()) {
		return
	}
	sim := h.c.Referee().Simulation()
	for _, p := range h.peers.all {
		if p.view == nil || p.state != Live {
			continue
		}
		viewer := p.viewer
		if p.seat != lockstep.System {
			viewer = sim.ViewerOf(p.seat)
		}
		h.views.Follow(p.view, viewer)
	}
	h.views.Make(h.c.Now(), sim)
	for _, p := range h.peers.all {
		switch {
		case p.view == nil || p.state != Live:
		case p.view.Err() != nil:
			h.refuse(p, protocol.ErrorRole, pack.Clip(p.view.Err().Error(), record.MaxNote), "")
		case p.view.Due(h.options.AckEvery):
			h.peers.mark(p)
		}
	}
}

// appendViews appends the next messages of views, and what a viewer gets of the records: notes, events, and the end of the match.
// Other clients learn changes of the seats from commands of System.
func (h *Host) appendViews(p *peer, dst []byte, begin, limit int) []byte {
	dst, open := h.views.Open(p.view, dst, &h.writer, begin, limit)
	if !open {
		return dst
	}
	for i := range h.seats {
		if now, changed := p.view.Present(lockstep.Player(i), h.seats[i].shown); changed {
			dst = append(dst, record.Event(lockstep.Player(i), record.EventPresence, now)...)
		}
	}
	at := max(p.stream.Cursor(), h.ring.First())
	for end := h.log.visible(p.reader()); at < end; at++ {
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
	dst, begun, bytes := p.view.AppendDeltas(dst, &h.writer, limit, h.options.AckEvery)
	h.stats.Views += uint64(begun)
	h.stats.ViewBytes += uint64(bytes)
	seen := h.c.Broken() || at == h.ring.Next() && p.view.Complete(h.c.Now()) // after a failure of the log no view follows
	if h.ending.Over() && seen && len(dst) <= limit {
		p.sentEnd = true
		h.closeEnded(p)
		dst = p.takePrivate(dst)
	}
	return dst
}

// ofState reports whether only a client that simulates the match has what a message tells.
func ofState(k protocol.Kind) bool {
	return k == protocol.KindChecksum || k == protocol.KindState || k == protocol.KindResimulated || k == protocol.KindPhases || k == protocol.KindAck || k == protocol.KindPanicked
}
