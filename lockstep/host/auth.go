package host

import (
	"errors"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// admit takes the first message of a connection, which must be auth.
func (h *Host) admit(p *peer, m *protocol.Message) {
	if m.Kind != protocol.KindAuth {
		h.malformed(p, "the first message is not auth")
		return
	}
	a := m.Auth
	if !h.identify(p, a) {
		return
	}
	if seat, ok := h.seats.bySession(a.Session); ok {
		s := &h.seats[seat]
		if h.mayTake(p, seat, s.grant(), true) {
			h.welcome(p, seat, a.Position)
		}
		return
	}
	grant, err := h.options.authorize(a.Token)
	if err != nil {
		h.refuse(p, protocol.ErrorRefused, "refused", "")
		return
	}
	if b := h.bans.Of(h.now, grant.person(p.from), h.seats.seated(grant.Subject)); b != nil {
		h.close(p, protocol.CloseBanned, b.Text(h.now))
		return
	}
	p.role, p.name = grant.Role, pack.Clip(grant.Name, record.MaxName)
	if grant.Role == protocol.Spectator {
		h.watch(p, &grant)
		return
	}
	seat, ok := h.seats.holderOf(h.header.Match, &grant)
	if !ok && grant.Seat == AnySeat {
		seat, ok = h.makeRoom(p.from)
	}
	if !ok {
		h.refuse(p, protocol.ErrorFull, "no seat is free", "")
		return
	}
	if !h.mayTake(p, seat, &grant, h.seats[seat].owner == grant.Subject) {
		return
	}
	if h.seats[seat].own(h.now, &grant, p.name) {
		h.idle.Reset(seat)
	}
	h.ending.Peopled()
	h.welcome(p, seat, 0)
}

// identify takes what a client says of itself, and whether it wants views. It returns false if it closes the connection, because
// the client does not fit the match.
func (h *Host) identify(p *peer, a *protocol.Auth) bool {
	var err *lockstep.IdentityError
	switch {
	case !a.Can(protocol.Views):
		errors.As(a.CheckIdentity(h.auth), &err)
	case h.views == nil:
		h.private(p, errorMessage(protocol.ErrorIdentity, "the match has no views", "views"))
		h.close(p, protocol.CloseRefused, "identity")
		return false
	default:
		p.view = views.NewViewing(len(h.seats))
		errors.As(a.CheckViewer(h.views.Identity(*h.auth)), &err)
	}
	if err != nil {
		h.private(p, errorMessage(protocol.ErrorIdentity, err.Error(), err.Field))
		h.close(p, protocol.CloseRefused, "identity")
		return false
	}
	p.platform, p.sources = record.SplitPlatform(a.Platform)
	p.build = a.Build
	p.witness.Resimulates = a.Can(protocol.Resimulate)
	if h.log.policy.Records(disclosure.Player) == nil || p.view != nil {
		return true
	}
	h.refuse(p, protocol.ErrorRole, "this match is sent as views: the client must ask for them", "views")
	return false
}

// mayTake charges a player for taking a seat, which is its own already or not. It closes the connection and returns false if the
// player takes seats too often, or if a newer connection of the same player has replaced it: its auth was delayed, and its client has given it up.
func (h *Host) mayTake(p *peer, seat lockstep.Player, g *Grant, its bool) bool {
	if owner := h.seats[seat].peer; its && owner != nil && owner.id >= p.id {
		h.close(p, protocol.CloseReplaced, "a later connection has the seat")
		return false
	}
	h.budget.Welcome(h.now, &p.tab, p.granted(g))
	if !h.budget.Take(h.now, &p.tab, budget.Returns, 1) {
		h.close(p, protocol.CloseBusy, "seats are taken too often")
		return false
	}
	return true
}

// granted takes the grant of a peer that is welcomed, and returns who pays for it.
func (p *peer) granted(g *Grant) budget.Holder {
	p.subject, p.guest, p.token = g.Subject, g.Guest, g.ID
	return budget.Holder{Subject: g.Subject, Address: p.from, Guest: g.Guest, Spectator: g.Role == protocol.Spectator}
}

// refuse tells a newcomer why it cannot join, and closes its connection.
func (h *Host) refuse(p *peer, code protocol.ErrorCode, text, field string) {
	h.private(p, errorMessage(code, text, field))
	h.close(p, protocol.CloseRefused, text)
}

// PeerOf returns the connection that plays with a session, so that the caller can tell whose datagrams arrive.
func (x Info) PeerOf(t protocol.SessionToken) (PeerID, bool) {
	seat, ok := x.h.seats.bySession(t)
	if !ok || x.h.seats[seat].peer == nil {
		return 0, false
	}
	return x.h.seats[seat].peer.id, true
}

// noPlace is what a spectator too many is told.
const noPlace = "no place is free"

// watch welcomes a spectator.
func (h *Host) watch(p *peer, g *Grant) {
	if h.peers.spectators() >= h.options.MaxSpectators {
		h.refuse(p, protocol.ErrorFull, noPlace, "")
		return
	}
	if wait := lockstep.Time(h.log.keyframes.UntilSeen(h.c.Now(), h.log.policy.Delay)) * h.pace.Period(); wait > h.options.SyncTimeout/2 {
		// Longer than a client may wait for a state.
		p.retry = uint32(wait.Milliseconds()) + 1000
		h.close(p, protocol.CloseBusy, "the match can be seen after its delay")
		return
	}
	if p.view != nil && h.log.policy.Delay > 0 {
		h.refuse(p, protocol.ErrorRole, "spectators of this match are delayed, and views are not", "")
		return
	}
	if p.view != nil {
		p.viewer = g.Viewer
	} else if g.Viewer != (lockstep.Viewer{}) {
		h.refuse(p, protocol.ErrorRole, "this token is for the views of "+g.Viewer.String()+": the client must ask for views", "views")
		return
	}
	h.budget.Welcome(h.now, &p.tab, p.granted(g))
	h.greet(p, &protocol.Welcome{Seat: lockstep.System, Role: protocol.Spectator})
	h.made.event(h.log.now(), Event{Kind: PeerJoined, Peer: p.id, Player: lockstep.System, Text: p.name})
	h.startSync(p, "joined")
}

// welcome gives a peer its seat. A position is that of the first record that the client lacks; 0 if it has none.
func (h *Host) welcome(p *peer, seat lockstep.Player, position protocol.Position) {
	s := &h.seats[seat]
	before := s.want
	if s.inherited {
		s.inherited, before = false, vacant // nobody in this match had it
	}
	if old := s.peer; old != nil {
		s.peer = nil // it can no longer act for the seat or lose it
		h.close(old, protocol.CloseReplaced, "another connection has the seat now")
	}
	s.peer, s.want, s.from = p, here, p.from
	h.idle.Connected(seat)
	h.log.giveBack(seat, &h.seats[seat].substitution)
	h.bill(seat, p.tab.Payer())
	h.log.noteName(seat, s, h.budget.Purse(h.now, &p.tab))
	p.seat, p.role = seat, s.role
	if p.name == "" {
		p.name = s.name
	}
	s.before = s.session
	//samestep:allow unseen makes session tokens, which never reach a simulation
	h.options.Random(s.session[:])
	h.seatsChanged = true
	h.logSeats()
	resumed := position > 0 && h.ring.Has(position) && p.view == nil
	w := &protocol.Welcome{Seat: seat, Role: s.role, Session: s.session, Resumed: resumed, LastSequence: h.c.LastDecided(seat)}
	if resumed {
		w.Position = position
	}
	h.greet(p, w)
	kind := PeerResumed
	if before == vacant {
		kind = PeerJoined
	}
	h.made.event(h.log.now(), Event{Kind: kind, Peer: p.id, Player: seat, Text: s.name})
	if !resumed {
		h.startSync(p, "joined")
		return
	}
	h.stats.Resumes++
	p.state = CatchingUp
	h.awaitState(p, false)
	p.stream.Resume(h.now, position)
	h.peers.mark(p)
}

// greet sends welcome and starts the timers of a peer.
func (h *Host) greet(p *peer, w *protocol.Welcome) {
	w.Tick, w.AckEvery = h.log.present(p.reader()), uint16(h.options.AckEvery)
	w.InputDelay, w.SpeedPercent = uint16(h.c.InputDelay()), h.pace.Speed()
	if !w.Resumed {
		w.Position = h.log.shown(p.reader())
	}
	p.state = Syncing
	p.stream.Reach(w.Tick)
	p.link.Begin(h.now)
	h.message = protocol.Message{Kind: protocol.KindWelcome, Welcome: w}
	h.private(p, &h.message)
	if p.waitVersion = h.pace.Version(); h.pace.Told().Reason != "" {
		p.waitVersion-- // it does not know
	}
}

// Known reports whether a session resumes a seat, or else whether a subject has one or had it before a recovery. It returns the owner
// of the seat. A caller can so tell a player who returns from others at the same address before it takes the connection.
func (x Info) Known(session protocol.SessionToken, subject string) (owner string, ok bool) {
	if seat, ok := x.h.seats.bySession(session); ok {
		return x.h.seats[seat].owner, true
	}
	if subject == "" {
		return "", false
	}
	return subject, x.h.seats.known(x.h.header.Match, subject)
}

// newGuest is for how long a guest who has given no command, or is not ready in a lobby, need not make room.
const newGuest = 30 * lockstep.Second

// leastGuestSeats is the least number of seats that the guests of one address keep unless the options say otherwise: a duel at home.
const leastGuestSeats = 2

// makesRoom is the reason why a guest has lost its seat to somebody of another address.
const makesRoom = "others want to play, and the guests of your address have more than their part of the seats"

// makeRoom frees a seat for a newcomer at an address: that of the guest who has been idle for longest, of another address whose guests
// have more than their part of the seats. It is one who has never given a command, or is not ready in a lobby. It reports false if
// there is none. A guest who has played keeps its seat until InactivePolicy.Guests.
func (h *Host) makeRoom(from string) (found lockstep.Player, ok bool) {
	for _, p := range h.seats.crowded(from, h.seats.mostGuests(h.options.GuestSeats)) {
		s := &h.seats[p]
		idle := !s.played && (s.want == takenOver || h.idle.Ticks(p) >= lockstep.Tick(h.header.Settings.TicksIn(int64(newGuest))))
		if h.lobby.Open() {
			idle = !h.lobby.Ready(p) && h.now-s.since >= newGuest
		}
		if idle && (!ok || h.idle.Ticks(p) >= h.idle.Ticks(found)) {
			found, ok = p, true
		}
	}
	if ok {
		h.Admin().giveUp(found, protocol.CloseInactive, makesRoom)
	}
	return found, ok
}
