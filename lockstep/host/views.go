package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
