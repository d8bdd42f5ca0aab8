package host

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A presence is the state of a seat's player, as the simulation sees it.
type presence uint8

const (
	vacant presence = iota
	here
	away      // lost, and may come back
	takenOver // the player did not return in time
)

func (p presence) text() string {
	return [...]string{record.PresenceVacant, record.PresenceHere, record.PresenceAway, record.PresenceTakenOver}[p]
}

// A hostSeat is the Host's state of one seat.
type hostSeat struct {
	bot     lockstep.Bot // nil for a person
	peer    *peer        // the connection that owns the seat, or nil
	owner   string       // the subject of its token
	guest   bool         // see Grant.Guest
	token   string       // the ID of the latest token that took the seat
	from    string       // the address of its latest connection
	name    string
	claim   string // the last one in the log that a recovery has read, see record.EventClaim
	role    protocol.Role
	session protocol.SessionToken // resumes the seat once
	before  protocol.SessionToken // the previous session, until the client has shown that it has the new one
	lostAt  lockstep.Time
	played  bool          // its player, or its substitute, has given a command
	since   lockstep.Time // when its player took it

	want, told presence // actual, and according to the log
	leaves     bool     // the previous player's leave is not in the log yet
	sealing    bool     // the next sealed tick tells the peers what told says
	why        string   // of the next change in the log; "" where it says enough
	shown      string   // its presence as the peers know it; "" for vacant
	sawEnd     bool     // its connection has closed after the end of the match
	awaited    bool     // it was here when the match was interrupted, and has not come back

	inherited bool   // its player comes from the match in whose state this one began, and nobody has taken it since
	reserved  string // the claim of the only player who may take it, or ""; see record.EventReserved

	resynced lockstep.Tick // the last sealed tick when it was sent a keyframe after a desync

	substitution substitution // of a player whose seat is taken over

	account budget.ID // pays for the match time that the seat costs; 0 if its player is unknown
}

// leaveSeat releases a seat when its peer's connection ends.
func (h *Host) leaveSeat(p *peer) {
	if p.seat == lockstep.System {
		if p.state != Connecting && p.state != Closed {
			h.made.event(h.log.now(), Event{Kind: PeerLeft, Peer: p.id, Player: lockstep.System, Code: p.code, Text: p.whyGone()})
		}
		return
	}
	s := &h.seats[p.seat]
	if s.peer != p {
		return // replaced, or left already
	}
	h.lobby.Leave(p.seat)
	if s.peer = nil; h.ending.Over() {
		return
	}
	if p.reason != leftUntold {
		s.why = p.reason
	}
	_, then := h.idle.Limit(s.guest)
	switch {
	case p.code == protocol.CloseInactive && then == TakeOverInactive && p.reason != makesRoom:
		h.takeOver(p.seat)
	case p.code == protocol.CloseLeft, p.code == protocol.CloseKicked, p.code == protocol.CloseBanned, p.code == protocol.CloseInactive:
		h.vacate(p.seat)
		h.made.event(h.log.now(), Event{Kind: PeerLeft, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	default:
		s.want, s.lostAt = away, h.now
		h.seatsChanged = true
		h.wake.at(h.now + h.options.Grace)
		h.made.event(h.log.now(), Event{Kind: PeerLost, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	}
	h.untold = true
	h.tellSeats() // at once: the next player must not seem to be the same one
}

// vacate gives up a seat for good. The next player inherits only the sequences, and the name in the log until a note replaces it. The log
// has this player's leave before the next player's join, even if no tick passes between the two.
func (h *Host) vacate(p lockstep.Player) {
	s := &h.seats[p]
	h.bill(p, 0)
	h.lobby.Leave(p)
	h.log.giveBack(p, &h.seats[p].substitution)
	h.idle.Reset(p)
	h.pace.Bill(p, 0)
	h.donors.Leave(p)
	*s = hostSeat{
		shown: s.shown, told: s.told, sealing: s.sealing, leaves: s.leaves || s.told != vacant, why: s.why, reserved: s.reserved, substitution: s.substitution,
	}
	h.seatsChanged = true
}

// Awaited returns the players who were connected when the match was interrupted, and are not live again.
func (x Info) Awaited() (players []lockstep.Player) {
	for i := range x.h.seats {
		s := &x.h.seats[i]
		if s.awaited = s.awaited && (s.peer == nil || s.peer.state != Live); s.awaited {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// leftUntold is the reason of a player who leaves and does not say why. The log needs none then.
const leftUntold = "left"

// connectionEnded is the reason in events of a connection that the host has not closed. The log needs none then.
const connectionEnded = "the connection ended"

// whyGone returns the reason in an event of the peer's end. The code says enough of one who leaves and gives no reason.
func (p *peer) whyGone() string {
	if p.reason == leftUntold {
		return ""
	}
	if p.panicked {
		return clientPanicked
	}
	return cmp.Or(p.reason, connectionEnded)
}

// leave handles a peer's own wish to leave. The log has its reason, so it counts like a note of the player.
func (h *Host) leave(p *peer, reason string) {
	why := leftUntold
	if p.seat != lockstep.System && reason != "" && h.log.talk.Note(h.budget.Purse(h.now, &p.tab), reason) {
		why += ": " + reason
	}
	h.close(p, protocol.CloseLeft, pack.Clip(why, record.MaxNote))
}

// logSeats writes the changes of the seats into the log.
func (h *Host) logSeats() {
	if !h.seatsChanged || h.c.Err() != nil {
		return
	}
	if h.lobby.Open() { // who comes and goes there is in no tick
		h.untold = true
		h.tellSeats()
		return
	}
	h.seatsChanged = false
	for i := range h.seats {
		s := &h.seats[i]
		if s.want == s.told && !s.leaves {
			continue
		}
		told, leaves := s.told, s.leaves
		again, err := h.log.seat(lockstep.Player(i), s)
		h.seatsChanged = h.seatsChanged || again
		h.takeDesyncs()
		if err == nil {
			s.told = s.want
		}
		h.untold, s.sealing = true, s.sealing || s.told != told || s.leaves != leaves
		switch {
		case err == nil:
		case errors.Is(err, coordinator.ErrBusy):
			h.seatsChanged = true // again after the next tick
		default:
			return // the match is over
		}
	}
	h.tellSeats()
}

// takeOver gives the seat of a player that is not connected to a substitute, if there is one. The player may come back
// with its token, not with a session: commands that it has sent could have the sequences of the substitute's.
func (h *Host) takeOver(p lockstep.Player) {
	s := &h.seats[p]
	s.want, s.session, s.before = takenOver, protocol.SessionToken{}, protocol.SessionToken{}
	h.idle.Reset(p)
	h.made.event(h.log.now(), Event{Kind: PeerTakenOver, Player: p, Text: s.why})
	h.seatsChanged = true
}

const notBack = "did not come back"

// seatTime ends the grace period of a lost player.
func (h *Host) seatTime(p lockstep.Player) {
	s := &h.seats[p]
	if s.want != away {
		return
	}
	end := s.lostAt + h.options.Grace
	if h.now < end {
		h.wake.at(end)
		return
	}
	if h.options.LeaveAfterGrace {
		s.why = notBack
		h.vacate(p)
		h.made.event(h.log.now(), Event{Kind: PeerLeft, Player: p, Text: notBack})
	} else {
		s.why = notBack
		h.takeOver(p)
	}
	h.seatsChanged = true
	h.logSeats()
}

// seats are the seats of a match: who holds them, who may take them, and what the log says of them. They know neither connections
// that hold none, nor the log.
type seats []hostSeat

// bySession returns the seat that a session token resumes. It compares the token with every seat in constant time.
func (all seats) bySession(t protocol.SessionToken) (seat lockstep.Player, ok bool) {
	var zero protocol.SessionToken
	for i := range all {
		s := &all[i]
		match := (s.session != zero && same(s.session[:], t[:])) || (s.before != zero && same(s.before[:], t[:]))
		if match {
			seat, ok = lockstep.Player(i), true
		}
	}
	return seat, ok && t != zero
}

// same compares secrets in constant time. (The owner of a seat may be the token itself.)
func same[T string | []byte](a, b T) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// holderOf returns the seat of a player: the one that is reserved for it, or that of its token, or its earlier one, or a
// free one.
func (all seats) holderOf(match lockstep.MatchID, g *Grant) (lockstep.Player, bool) {
	for i := range all {
		if s := &all[i]; s.reserved != "" && s.reservedFor(match, g) {
			return lockstep.Player(i), s.bot == nil
		}
	}
	if g.Seat != AnySeat {
		return g.Seat, int(g.Seat) < len(all) && all[g.Seat].bot == nil && all[g.Seat].reserved == ""
	}
	claim := Claim(match, g.Subject)
	for i := range all {
		s := &all[i]
		if s.want != vacant && (same(s.owner, g.Subject) || s.owner == "" && same(s.claim, claim)) {
			return lockstep.Player(i), true
		}
	}
	for _, inherited := range []bool{true, false} { // a seat with a history is more urgent
		for i := range all {
			if s := &all[i]; s.inherited == inherited && (s.inherited || s.want == vacant) && s.reserved == "" {
				return lockstep.Player(i), true
			}
		}
	}
	return 0, false
}

// reservedFor reports whether a seat is reserved for a player, by its subject or its verified name.
func (s *hostSeat) reservedFor(match lockstep.MatchID, g *Grant) bool {
	return !g.Guest && (same(s.reserved, Claim(match, g.Subject)) || same(s.reserved, Claim(match, g.Name)))
}

// own makes the holder of a grant the owner of a seat. It discards the session and the name of another owner, and reports whether
// there was one. name is what the player wants to be called.
func (s *hostSeat) own(now lockstep.Time, g *Grant, name string) (another bool) {
	if another = s.owner != "" && s.owner != g.Subject; another {
		s.session = protocol.SessionToken{} // not the previous session of the new owner
		s.played = false
	}
	if s.owner != g.Subject {
		s.since = now
	}
	s.owner, s.role, s.guest, s.token = g.Subject, g.Role, g.Guest, g.ID
	if name != "" || s.want == vacant || another {
		s.name = name
	}
	return another
}

// plays reports whether the Host itself commands for a seat.
func (s *hostSeat) plays() bool {
	if s.bot != nil {
		return s.told == here
	}
	return s.told == takenOver && s.want == takenOver
}

// seated reports whether a subject has a seat.
func (all seats) seated(subject string) bool {
	return subject != "" && slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && same(s.owner, subject) })
}

// known is seated with those who had a seat before a recovery.
func (all seats) known(match lockstep.MatchID, subject string) bool {
	claim := Claim(match, subject)
	return all.seated(subject) || slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && s.owner == "" && same(s.claim, claim) })
}

// taken returns an error if a seat is free.
func (all seats) taken(player lockstep.Player) error {
	if int(player) >= len(all) || all[player].want == vacant {
		return fmt.Errorf("%w: player %d is not in the match", coordinator.ErrSeat, player)
	}
	return nil
}

// people returns how many people have seats.
func (all seats) people() (n int) {
	for i := range all {
		if s := &all[i]; s.want != vacant && s.bot == nil {
			n++
		}
	}
	return n
}

// seen reports whether all people who have seats have seen the end of the match.
func (all seats) seen() bool {
	return !slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && s.bot == nil && !s.sawEnd })
}

// players returns the number of connected players and bots.
func (all seats) players() (n int) {
	for i := range all {
		if all[i].want == here {
			n++
		}
	}
	return n
}

// mostGuests returns how many seats the guests of one address may keep when others want one, see Options.GuestSeats.
func (all seats) mostGuests(limit int) int {
	switch {
	case limit > 0:
		return limit
	case limit < 0:
		return len(all)
	}
	people := 0
	for i := range all {
		if all[i].bot == nil {
			people++
		}
	}
	return max(leastGuestSeats, people/2)
}

// crowded returns the seats that may have to make room for a newcomer at an address: those of guests of other addresses whose guests
// have more than most.
func (all seats) crowded(from string, most int) (players []lockstep.Player) {
	counts := make(map[string]int) // only looked up, never ranged over
	for i := range all {
		if s := &all[i]; s.guest && s.want != vacant {
			counts[s.from]++
		}
	}
	for i := range all {
		s := &all[i]
		if !s.guest || s.want == vacant || s.from == from || counts[s.from] <= most || s.reserved != "" {
			continue
		}
		players = append(players, lockstep.Player(i))
	}
	return players
}

// seatBots gives bots their seats. A recovered match has them already. It reports whether there are any.
func (all seats) seatBots(bots []lockstep.Bot) (any bool) {
	for p, bot := range bots {
		if s := &all[p]; bot != nil {
			s.bot, s.want, s.awaited, s.name, any = bot, here, false, fmt.Sprintf("bot %d", p), true
		}
	}
	return any
}

// inherit takes over the seats of the match in whose state this one begins.
func (all seats) inherit(now lockstep.Time, from seats, bots []lockstep.Bot) {
	for i := range from {
		s := &all[i]
		s.role, s.lostAt = protocol.Seated, now
		switch from[i].told {
		case vacant:
			continue
		case takenOver:
			s.want = takenOver
		default:
			s.want, s.awaited = away, from[i].told == here
		}
		s.shown = record.PresenceHere
		s.told, s.inherited = here, true // so that the new log says it again
	}
	all.seatBots(bots)
	for i := range all {
		if s := &all[i]; s.bot != nil && s.inherited {
			s.told, s.inherited = away, false // the bot joins
		}
	}
}

// reserve keeps seats for players.
func (all seats) reserve(match lockstep.MatchID, players []string) error {
	if len(players) > len(all) {
		return fmt.Errorf("lockstep: host: players: got %d, want at most %d, the seats", len(players), len(all))
	}
	for i, who := range players {
		if who == "" {
			continue
		}
		if other := slices.Index(players, who); other < i {
			return fmt.Errorf("lockstep: host: player %q: got seats %d and %d, want one", who, other, i)
		}
		if all[i].bot != nil {
			return fmt.Errorf("lockstep: host: player %q: a bot has seat %d", who, i)
		}
		all[i].reserved = Claim(match, who)
	}
	return nil
}

// lobby returns the present occupants of the seats.
func (all seats) lobby() []lobby.Seat {
	seats := make([]lobby.Seat, len(all))
	for i := range all {
		s := &all[i]
		seats[i] = lobby.Seat{Bot: s.bot != nil, Here: s.want == here, Away: s.want == away, Account: s.account}
	}
	return seats
}

// participants describes the connected players.
func (all seats) participants() (list []Participant) {
	for i := range all {
		if p := all[i].peer; p != nil {
			list = append(list, Participant{Player: lockstep.Player(i), Name: p.name, Build: p.build, Platform: p.platform, Sources: p.sources})
		}
	}
	return list
}

// presence returns the text of a seat's presence.
func (s *hostSeat) presence(of presence) string {
	if s.bot != nil {
		return record.PresenceBot
	}
	return of.text()
}

// tickTold notes that the peers know the seats from the sealed tick.
func (all seats) tickTold() {
	for i := range all {
		if s := &all[i]; s.sealing {
			s.shown, s.sealing = s.presence(s.told), false
		}
	}
}

// forgive adds the time of a stall, whose end is now, to the time of lost players.
func (all seats) forgive(now, late lockstep.Time) {
	for i := range all {
		all[i].lostAt = min(all[i].lostAt+late, now)
	}
}

// roster returns notes and events that tell a joiner what the log has told the others: who has the seats, and what was said last
// before a position.
func (all seats) roster(t *talk.Talk, l *lobby.Lobby, before protocol.Position) (notes []byte) {
	for i := range all {
		s, p := &all[i], lockstep.Player(i)
		if name := t.Named(p); name != "" { // of a vacant seat, too: its next player may have the same name, and no note says it again
			notes = append(notes, record.Note(p, record.TopicName, name)...)
		}
		if s.shown == "" || s.shown == record.PresenceVacant {
			continue
		}
		notes = append(notes, record.Event(p, record.EventPresence, s.shown)...)
		if l.Ready(p) {
			notes = append(notes, record.Note(p, record.TopicReady, record.ReadyYes)...)
		}
	}
	for _, line := range t.Lines(before) {
		notes = append(notes, record.Note(line.Player, record.TopicChat, line.Text)...)
	}
	return notes
}

// pace appends what the pace sees of the seats now.
func (all seats) pace(seen []pace.Seat, now lockstep.Time, j *journal) []pace.Seat {
	for i := range all {
		s := &all[i]
		x := pace.Seat{Here: s.want == here, Away: s.want == away}
		if p := s.peer; p != nil {
			x.Measured, x.Late = p.link.RTT() > 0, p.late(now)
			if x.Live = p.state == Live; x.Live {
				x.Lag = p.stream.Lag(j.present(p.reader()))
			}
		}
		seen = append(seen, x)
	}
	return seen
}
