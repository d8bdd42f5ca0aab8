package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A ViewPolicy is how a Host sends views: what a viewer may see of the state, in place of the match's records (see package
// feed). Clients that ask for them get views of any match whose game has some.
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

// A viewing is what a peer has of its series.
type viewing struct {
	series  *series  // nil until the first view
	greeted bool     // it knows the roster
	shown   []string // the presence of each seat, as it knows it
	told    bool     // it knows the plan and whose view it gets
	sent    feed.Number
	highest feed.Number   // ever sent on the connection
	tick    lockstep.Tick // the last one that it was told
	unacked []feed.Number // sent, ascending
	delta   []byte        // being sent
	at      int           // bytes of it that were sent
	base    feed.Number
}

// newViews returns the views of a match.
func newViews(g *lockstep.Game, o *Options) (v views, err error) {
	if g.ViewSchema() == nil || o.Relay {
		if o.Views.Only {
			err = fmt.Errorf("lockstep: host: views only: want a game with views, and a referee")
		}
		return v, err
	}
	if v.plan, err = feed.NewPlan(g.ViewSchema(), g.ViewType()); err != nil {
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
	if !h.options.Views.Only || p.view != nil {
		return false
	}
	h.refuse(p, protocol.ErrorRole, "this match is sent as views: the client must ask for them")
	return true
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
		p.cursor, p.acked, p.high = at, at, at
	}
	v.begin(nil)
	p.state, p.tick = Live, h.present(p)
	h.awaitState(p, false)
	h.event(Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
	h.makeViews(true)
	h.mark(p)
}

// makeViews makes the views that are due, once all of the match's records are durable.
func (h *Host) makeViews(now bool) {
	v := &h.views
	if v.plan == nil || h.barrier.persisted < h.ring.Next() || h.c.Broken() {
		return
	}
	tick := h.c.Now()
	if !now && !h.over && tick < v.made+h.options.Views.Every {
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
			h.error(p, protocol.ErrorRole, p.view.series.err.Error(), "")
			h.close(p, protocol.CloseRefused, "no view")
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
	viewer := lockstep.Viewer{}
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
	dst = h.appendNotes(p, dst, begin, limit)
	if v.series != nil && !v.told {
		rate, each := h.header.Settings.Rate()
		h.message = protocol.Message{
			Kind: protocol.KindViewSync, Text: v.series.viewer.String(), Players: h.header.Settings.Players, Every: uint16(h.options.Views.Every), Period: uint32(max(1, each/rate)), Bytes: h.views.sync,
		}
		dst = h.writer.Append(dst, &h.message)
		v.told = true
	}
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
	if h.over && h.viewed(p) && len(dst) <= limit {
		p.sentEnd = true
		h.close(p, h.endCode(), h.endReason())
		dst = append(dst, p.out...)
		p.out = p.out[:0]
	}
	return dst
}

// viewed reports whether a peer was sent all of a match that is over.
func (h *Host) viewed(p *peer) bool {
	if h.c.Broken() {
		return true // no view follows
	}
	v := p.view
	return p.cursor == h.ring.Next() && v.at == len(v.delta) && v.series != nil && v.sent == v.series.sender.Number() && v.series.tick == h.c.Now()
}

// appendNotes appends the records that a viewer gets: notes, and the end of the match.
func (h *Host) appendNotes(p *peer, dst []byte, begin, limit int) []byte {
	if !h.ring.Has(p.cursor) {
		p.cursor = h.ring.First()
	}
	dst = h.appendPresence(p.view, dst)
	for end := h.visible(p); p.cursor < end; p.cursor++ {
		raw := h.ring.Record(p.cursor)
		if kind := record.KindOf(raw); kind != record.KindNote && kind != record.KindEnd {
			continue
		}
		if len(dst) > begin && len(dst)+len(raw) > limit {
			break
		}
		dst = append(dst, raw...)
	}
	p.acked, p.high = p.cursor, max(p.high, p.cursor)
	return dst
}

// appendPresence appends who is there now. A viewer does not get the commands of System that tell it.
func (h *Host) appendPresence(v *viewing, dst []byte) []byte {
	for i := range h.seats {
		if now := cmp.Or(h.seats[i].shown, record.PresenceVacant); v.shown[i] != now {
			v.shown[i] = now
			dst = append(dst, record.Note(lockstep.Player(i), record.TopicPresence, now)...)
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
	p.tick = max(p.tick, m.Tick)
	if h.viewDue(p) {
		h.mark(p)
	}
}

// ofState reports whether only a client that simulates the match has what a message tells.
func ofState(k protocol.Kind) bool {
	return k == protocol.KindChecksum || k == protocol.KindState || k == protocol.KindResimulated || k == protocol.KindPhases || k == protocol.KindAck
}

// memory returns the bytes of a view that is being sent.
func (v *viewing) memory() int {
	if v == nil {
		return 0
	}
	return cap(v.delta) + 8*cap(v.unacked)
}

// viewBound returns the most bytes that views like those so far take: a sender keeps its last views and differences between
// them, and a peer one difference. A difference can be larger than a view, by the masks of its rows.
func (h *Host) viewBound() int {
	if h.views.plan == nil {
		return 0
	}
	most := 2 * (h.views.largest + 4<<10)
	return (len(h.seats)+1)*4*feed.History*most + h.maxPeers()*2*most
}

// memory returns the bytes that the views keep.
func (v *views) memory() int {
	n := cap(v.buffer)
	for _, s := range v.list {
		n += s.sender.Memory()
	}
	return n
}
