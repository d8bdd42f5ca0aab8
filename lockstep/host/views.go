package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/feed"
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

// maxUnacked is the number of views that a viewer may have without an ack. Then it is sent no more until one comes.
const maxUnacked = 8

// views makes the views of a match.
type views struct {
	plan    *feed.Plan // nil if the game has no views
	sync    []byte     // description of the plan
	list    []*series
	made    lockstep.Tick // of the last views
	due     lockstep.Time // when views are made that were put off; 0 for none
	buffer  []byte
	largest int // bytes of a view
}

// A series is the views of one viewer, shared by all peers that see as it does.
type series struct {
	viewer lockstep.Viewer
	sender *feed.Sender
	tick   lockstep.Tick // of the last view
	err    error         // why there is none
}

// newViews returns the views of a match.
func newViews(g *lockstep.Game, o *Options) (v views, err error) {
	if g.ViewSchema() == nil || o.Relay {
		if o.Views.Only {
			err = fmt.Errorf("lockstep: host: views only: want a game with views, and a referee")
		}
		return v, err
	}
	if v.plan, err = feed.NewPlan(g.ViewSchema(), g.ViewTags()); err != nil {
		return v, fmt.Errorf("lockstep: host: %w", err)
	}
	if v.sync = v.plan.AppendDescription(nil); len(v.sync) > protocol.MaxPlan {
		return v, fmt.Errorf("lockstep: host: the description of the views has %d bytes, want at most %d", len(v.sync), protocol.MaxPlan)
	}
	return v, nil
}

// checkIdentity compares the identity of a client with that of the match.
func (h *Host) checkIdentity(p *peer, a *protocol.Auth) error {
	if p.view == nil {
		return a.CheckIdentity(h.auth)
	}
	want := *h.auth
	want.StateSchema = h.views.plan.Schema().Fingerprint()
	return a.CheckViewer(&want)
}

// admitViewer makes a peer one that asks for views. It returns false if the match has none.
func (h *Host) admitViewer(p *peer) bool {
	if h.views.plan == nil {
		h.error(p, protocol.ErrorIdentity, "the match has no views", "views")
		h.close(p, protocol.CloseRefused, "identity")
		return false
	}
	p.view = &viewing{}
	return true
}

// onlyViews refuses a client that asks for records of a match that is sent as views only.
func (h *Host) onlyViews(p *peer) bool {
	if h.disclosed.Records(disclosure.Player) == nil || p.view != nil {
		return false
	}
	h.wantViews(p, "this match is sent as views: the client must ask for them")
	return true
}

// wantViews refuses a client that did not ask for views. It may come again and ask for them.
func (h *Host) wantViews(p *peer, text string) {
	h.error(p, protocol.ErrorRole, text, "views")
	h.close(p, protocol.CloseRefused, text)
}

// startView begins to send views to a peer, from the whole view on.
func (h *Host) startView(p *peer) {
	v := p.view
	if !v.greeted {
		v.greeted = true
		at := h.afterTick()
		p.out = append(p.out, h.roster(at)...)
		for i := range h.seats {
			v.shown = append(v.shown, cmp.Or(h.seats[i].shown, record.PresenceVacant))
		}
		p.stream.Pass(at)
	}
	v.begin(nil)
	p.state = Live
	p.stream.Reach(h.present(p))
	h.awaitState(p, false)
	h.event(Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
	h.makeViews(true)
	h.mark(p)
}

// awaitViews makes the views that are due: between two ticks if players get frames, so that no frame is late because of many viewers,
// and otherwise at once.
func (h *Host) awaitViews() {
	v := &h.views
	switch {
	case v.plan == nil:
	case h.ending.Over() || !slices.ContainsFunc(h.peers, func(p *peer) bool { return p.view == nil && p.seat != lockstep.System && p.state == Live }):
		h.makeViews(false)
	case v.due == 0:
		v.due = h.now + h.pace.Period()/2
		h.wakeAt(v.due)
	}
}

// viewTime makes the views that were put off.
func (h *Host) viewTime() {
	if h.views.due > h.now {
		h.wakeAt(h.views.due)
	} else if h.views.due > 0 {
		h.views.due = 0
		h.makeViews(false)
	}
}

// makeViews makes the views that are due, once all of the match's records are durable.
func (h *Host) makeViews(now bool) {
	v := &h.views
	if v.plan == nil || h.barrier.Persisted() < h.ring.Next() || h.c.Broken() {
		return
	}
	tick := h.c.Now()
	if !now && !h.ending.Over() && tick < v.made+h.options.Views.Every {
		return
	}
	viewed := false
	for _, p := range h.peers {
		if p.view != nil && p.state == Live {
			viewed = true
			h.follow(p)
		}
	}
	if !viewed {
		v.list = v.list[:0]
		return
	}
	v.made = tick
	for _, s := range v.list {
		h.makeView(s, tick)
	}
	for _, p := range h.peers {
		switch {
		case p.view == nil || p.state != Live || p.view.series == nil:
		case p.view.series.err != nil:
			h.refuse(p, protocol.ErrorRole, pack.Clip(p.view.series.err.Error(), record.MaxNote))
		case h.viewDue(p):
			h.mark(p)
		}
	}
	v.list = slices.DeleteFunc(v.list, func(s *series) bool {
		return !slices.ContainsFunc(h.peers, func(p *peer) bool { return p.view != nil && p.view.series == s })
	})
}

// makeView makes the view of a tick.
func (h *Host) makeView(s *series, tick lockstep.Tick) {
	if s.sender.Number() > 0 && s.tick == tick {
		return
	}
	v := &h.views
	v.buffer, s.err = h.c.Referee().Simulation().AppendView(v.buffer[:0], s.viewer)
	v.largest = max(v.largest, len(v.buffer))
	if s.err == nil {
		s.err = s.sender.Set(v.buffer, h.options.Views.Budget)
	}
	s.tick = tick
}

// follow gives a peer the series of whose view it gets. Another one than before begins anew.
func (h *Host) follow(p *peer) {
	viewer := p.view.as
	if p.seat != lockstep.System {
		viewer = h.c.Referee().Simulation().ViewerOf(p.seat)
	}
	if s := p.view.series; s != nil && s.viewer == viewer {
		return
	}
	i := slices.IndexFunc(h.views.list, func(s *series) bool { return s.viewer == viewer })
	if i < 0 {
		i = len(h.views.list)
		h.views.list = append(h.views.list, &series{viewer: viewer, sender: feed.NewSender(h.views.plan)})
	}
	p.view.begin(h.views.list[i])
}

// viewBound returns the most bytes that views like those so far take: a sender keeps its last views and differences between
// them, and a peer one difference. A difference can be larger than a view, by the masks of its rows.
func (x Info) viewBound() int {
	if x.h.views.plan == nil {
		return 0
	}
	most := 2 * (x.h.views.largest + 4<<10)
	return (len(x.h.seats)+1)*4*feed.History*most + x.h.peerBound()*2*most
}

// memory returns the bytes that the views keep.
func (v *views) memory() int {
	n := cap(v.buffer)
	for _, s := range v.list {
		n += s.sender.Memory()
	}
	return n
}
