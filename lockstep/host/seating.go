package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/ending"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/idle"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/vote"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// seats are the seats of a live match. They carry out what becomes of their players: in the log, in the lobby, and for those who pay.
type seats struct {
	table
	changed bool // a change is not in the log yet
	untold  bool // the peers do not know a change

	looks   []pace.Seat // scratch of look
	options *Options
	log     *journal
	out     *outputs
	wake    *alarm
	budget  *budget.Ledger
	idle    *idle.Seats
	ending  *ending.Ending
	pace    *pace.Pace
	lobby   *lobby.Lobby
	votes   *vote.Votes
}

// release gives up the seats of the connections that were closed.
func (t *seats) release(now lockstep.Time, c *peers) {
	for len(c.ended) > 0 {
		p := c.ended[0]
		c.ended = slices.Delete(c.ended, 0, 1)
		t.leave(now, p)
		t.budget.Leave(&p.tab)
		kind := PeerRefused
		if p.welcomed {
			kind = PeerClosed
		}
		t.out.event(Event{Kind: kind, Peer: p.id, Player: p.seat, Code: p.code, Text: p.reason})
	}
}

// leave releases a seat when its peer's connection ends.
func (t *seats) leave(now lockstep.Time, p *peer) {
	if p.seat == lockstep.System {
		if p.welcomed {
			t.out.event(Event{Kind: PeerLeft, Peer: p.id, Player: lockstep.System, Code: p.code, Text: p.whyGone()})
		}
		return
	}
	s := &t.table[p.seat]
	if s.peer != p {
		return // replaced, or left already
	}
	t.lobby.Leave(p.seat)
	if s.peer = nil; t.ending.Over {
		return
	}
	if p.reason != leftUntold {
		s.why = p.reason
	}
	_, then := t.idle.Limit(s.guest)
	switch {
	case p.code == protocol.CloseInactive && then == TakeOverInactive && p.reason != makesRoom:
		t.takeOver(p.seat)
	case p.code == protocol.CloseLeft, p.code == protocol.CloseKicked, p.code == protocol.CloseBanned, p.code == protocol.CloseInactive:
		t.vacate(p.seat)
		t.out.event(Event{Kind: PeerLeft, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	default:
		s.want, s.lostAt = away, now
		t.changed = true
		t.wake.at(now + t.options.Grace)
		t.out.event(Event{Kind: PeerLost, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	}
	t.untold = true
	t.tell() // at once: the next player must not seem to be the same one
}

// vacate gives up a seat for good. The next player inherits only the sequences, and the name in the log until a note replaces it. The log
// has this player's leave before the next player's join, even if no tick passes between the two.
func (t *seats) vacate(p lockstep.Player) {
	s := &t.table[p]
	t.bill(p, 0)
	t.lobby.Leave(p)
	t.log.giveBack(p, &s.substitution)
	t.idle.Reset(p)
	t.pace.Bill(p, 0)
	t.log.donors.Leave(p)
	*s = hostSeat{
		shown: s.shown, told: s.told, sealing: s.sealing, leaves: s.leaves || s.told != vacant, why: s.why, reserved: s.reserved, substitution: s.substitution,
	}
	t.changed = true
}

// takeOver gives the seat of a player that is not connected to a substitute, if there is one. The player may come back
// with its token, not with a session: commands that it has sent could have the sequences of the substitute's.
func (t *seats) takeOver(p lockstep.Player) {
	s := &t.table[p]
	s.want, s.session, s.before = takenOver, protocol.SessionToken{}, protocol.SessionToken{}
	t.idle.Reset(p)
	t.out.event(Event{Kind: PeerTakenOver, Player: p, Text: s.why})
	t.changed = true
}

// graceOver ends the grace period of a lost player, and reports whether it has.
func (t *seats) graceOver(now lockstep.Time, p lockstep.Player) bool {
	s := &t.table[p]
	if end := s.lostAt + t.options.Grace; now < end {
		t.wake.at(end)
		return false
	}
	s.why = notBack
	if t.options.LeaveAfterGrace {
		t.vacate(p)
		t.out.event(Event{Kind: PeerLeft, Player: p, Text: notBack})
	} else {
		t.takeOver(p)
	}
	return true
}

const notBack = "did not come back"

// bill makes an account pay for the match time that a seat's player costs.
func (t *seats) bill(p lockstep.Player, a budget.ID) {
	s := &t.table[p]
	if s.account == a {
		return
	}
	t.budget.Bill(s.account, a)
	s.account = a
	t.votes.Drop(p) // the old one is another player's
	t.pace.Bill(p, a)
}

// look returns what the pace sees of the seats now. It is valid until the next call.
func (t *seats) look(now lockstep.Time) []pace.Seat {
	t.looks = t.looks[:0]
	for i := range t.table {
		s := &t.table[i]
		x := pace.Seat{Here: s.want == here, Away: s.want == away}
		if p := s.peer; p != nil {
			x.Measured, x.Late = p.link.RTT > 0, p.late(now)
			if x.Live = p.state == Live; x.Live {
				x.Lag = p.stream.Lag(t.log.present(p.reader()))
			}
		}
		t.looks = append(t.looks, x)
	}
	return t.looks
}

// vote takes a line of chat of a player, which an account pays for, if it is a vote to kick another player. It returns why the vote does not
// count, or whether the accused is kicked.
func (t *seats) vote(now lockstep.Time, from lockstep.Player, payer budget.ID, line string) (accused lockstep.Player, refusal string, kicked bool) {
	whom, found := vote.Parse(line)
	if !found {
		return 0, "", false
	}
	all := make([]vote.Seat, len(t.table))
	for i := range t.table {
		s := &t.table[i]
		all[i] = vote.Seat{Taken: s.want != vacant, Name: s.name, Account: s.account, Votes: s.want == here && s.bot == nil}
	}
	accused, ok := vote.Named(whom, all)
	if !ok || t.table[accused].bot != nil || all[accused].Account == payer {
		return 0, "no other player has that seat number or unique name", false
	}
	a := all[accused].Account
	if !t.lobby.Awaits(accused, t.occupants()[accused]) && !t.budget.SpentLately(now, a) {
		return 0, "only a player who has used up its share of the match's time, or is awaited in a lobby, can be voted out", false
	}
	agree, electorate, kicked := t.votes.Cast(now, from, a, all)
	t.log.announce(accused, record.EventVote, fmt.Sprintf("%d of %d want this player to be kicked", agree, electorate))
	return accused, "", kicked
}

// tellCosts tells all peers who costs the match time.
func (t *seats) tellCosts() {
	for _, c := range t.pace.Costs() {
		t.out.event(Event{Kind: TimeLost, Player: c.Player, Number: int64(c.Used) / 1000, Text: c.Text})
		t.log.announce(c.Player, record.EventPace, c.Text)
	}
}

// write writes the changes of the seats into the log.
func (t *seats) write() {
	if !t.changed || t.log.c.Err() != nil {
		return
	}
	if t.lobby.Open { // who comes and goes there is in no tick
		t.untold = true
		t.tell()
		return
	}
	t.changed = false
	for i := range t.table {
		s := &t.table[i]
		if s.want == s.told && !s.leaves {
			continue
		}
		told, leaves := s.told, s.leaves
		again, err := t.log.seat(lockstep.Player(i), s)
		if err == nil {
			s.told = s.want
		}
		t.untold, s.sealing = true, s.sealing || s.told != told || s.leaves != leaves
		switch busy := errors.Is(err, coordinator.ErrBusy); {
		case err != nil && !busy:
			return // the match is over
		case busy || again: // after the next tick
			t.changed = true
		}
	}
	t.tell()
}

// tell notes who has which seat, while no tick is sealed that could tell the peers.
func (t *seats) tell() {
	if !t.untold || !t.lobby.Open && !t.pace.Waiting && !t.log.c.Paused() {
		return
	}
	t.untold = false
	for i := range t.table {
		if p, s := lockstep.Player(i), &t.table[i]; s.bot != nil {
			_ = t.log.introduce(p, s) // an error ends the match; Advance handles that
		} else {
			t.log.show(p, s, s.want.text())
		}
	}
}

// noteReady writes the readiness of a player to the log, or later if a limit is exceeded.
func (t *seats) noteReady(now lockstep.Time, p lockstep.Player, purse budget.Purse) {
	says, unwritten := t.lobby.Unwritten(p)
	if !unwritten || t.table[p].peer == nil {
		return
	}
	text := record.ReadyNo
	if says {
		text = record.ReadyYes
	}
	if !t.log.talk.Ready(purse, text) {
		t.wake.at(now + lockstep.Second)
		return
	}
	t.lobby.Written(p)
	_ = t.log.c.Note(p, record.TopicReady, text) // an error ends the match; Advance handles that
	t.wake.at(now)
}

// newGuest is for how long a guest who has given no command, or is not ready in a lobby, need not make room.
const newGuest = 30 * lockstep.Second

// makesRoom is the reason why a guest has lost its seat to somebody of another address.
const makesRoom = "a newcomer needs the seat, and guests of your address have more than their share"

// idlest returns the seat that a newcomer at an address gets if none is free: that of the guest who has been idle for longest, of another
// address whose guests have more than their part of the seats. It is one who has never given a command, or is not ready in a lobby. It
// reports false if there is none. A guest who has played keeps its seat until InactivePolicy.Guests.
func (t *seats) idlest(now lockstep.Time, from string) (found lockstep.Player, ok bool) {
	least := max(2, lockstep.Tick(t.log.c.Header().Settings.TicksIn(int64(newGuest))))
	for _, p := range t.crowded(from, t.mostGuests(t.options.GuestSeats)) {
		s := &t.table[p]
		idle := !s.played && (s.want == takenOver || t.idle.Ticks(p) >= least)
		if t.lobby.Open {
			idle = !t.lobby.Ready(p) && now-s.since >= newGuest
		}
		if idle && (!ok || t.idle.Ticks(p) >= t.idle.Ticks(found)) {
			found, ok = p, true
		}
	}
	return found, ok
}
