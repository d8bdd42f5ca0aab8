package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/idle"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	gathers := h.pace.Held() == "" && h.lobby.Open()
	if gathers {
		over, wake := h.lobby.Time(h.now, h.seats.lobby())
		h.wake.at(wake)
		if gathers = !over; over {
			_ = h.Admin().Start(h.now) // the lobby is open
		}
	}
	var seats []pace.Seat
	if h.options.Wait.Bound > 0 {
		seats = h.seats.pace(h.seen[:0], h.now, &h.log)
	}
	ready := h.pace.Await(h.now, gathers, h.c.Now() > 0, seats)
	h.tellCosts()
	return ready
}

// late returns how late a player's commands come. Where packets are lost, they come sooner by datagrams than by the stream.
func (p *peer) late(now lockstep.Time) lockstep.Time {
	late := p.link.RTT()/2 + 2*p.link.Jitter()
	if g := p.datagrams; g != nil && g.Flows(now, p.link.RTT()) {
		late = min(late, g.Lateness())
	}
	return late
}

// bill makes an account pay for the match time that a seat's player costs.
func (h *Host) bill(p lockstep.Player, a budget.ID) {
	s := &h.seats[p]
	if s.account == a {
		return
	}
	h.budget.Bill(s.account, a)
	s.account = a
	h.votes.Drop(p) // the old one is another player's
	h.pace.Bill(p, a)
}

// tellCosts tells all peers who costs the match time.
func (h *Host) tellCosts() {
	for _, c := range h.pace.Costs() {
		h.made.event(h.log.now(), Event{Kind: TimeLost, Player: c.Player, Number: int64(c.Used) / 1000, Text: c.Text})
		h.log.announce(c.Player, record.EventPace, c.Text)
	}
}

// paceTime applies the policies at their times.
func (h *Host) paceTime() {
	if h.now >= h.pace.Next() {
		percent, changed := h.pace.Slow(h.now, h.seats.pace(h.seen[:0], h.now, &h.log))
		h.tellCosts()
		if changed && h.Admin().logSpeed(percent) == nil {
			h.pace.Slowed(percent)
		}
		delay := h.pace.Delay(h.now, h.c.InputDelay(), h.seats.pace(h.seen[:0], h.now, &h.log))
		h.tellCosts()
		if delay != h.c.InputDelay() {
			_ = h.Admin().SetInputDelay(h.now, delay) // the tick is full; the next measurement tries again
		}
	}
	h.wake.at(h.pace.Next())
}

// A Wait says why a match stands still or runs slower. All peers are told. Reason is "" if the match runs.
type Wait = pace.Wait

// Reasons of a Wait, besides those of a lobby, which are in package protocol, and of [Admin.Hold].
const (
	WaitsPaused  = protocol.HeldPaused
	WaitsForSlow = protocol.HeldForSlow
	WaitsSlower  = protocol.HeldSlower
)

// Hold stops the sealing of ticks for a reason of the server, such as a full disk, until it is called again. A Wait
// without a Reason lets the match continue. Since is ignored.
func (a Admin) Hold(now lockstep.Time, w Wait) {
	a.h.now = max(a.h.now, now)
	w.Reason = pack.Clip(w.Reason, record.MaxNote)
	before := a.h.pace.Held()
	if a.h.ending.Over() || !a.h.pace.Hold(a.h.now, w) {
		return
	}
	if w.Reason != before {
		a.h.wake.at(a.h.lobby.Hold(a.h.now, before != "", a.h.seats.lobby()))
		kind := MatchHeld
		if w.Reason == "" {
			kind = MatchGoesOn
		}
		a.h.made.event(a.h.log.now(), Event{Kind: kind, Player: lockstep.System, Text: w.Reason})
	}
	a.h.tellWait()
}

// tellWait tells the peers what the match waits for, if that has changed.
func (h *Host) tellWait() {
	now := pace.Situation{Over: h.ending.Over(), Paused: h.c.Paused()}
	if h.lobby.Open() && !now.Over && !now.Paused && h.pace.Held() == "" {
		w := h.lobby.Wait(h.now, h.seats.lobby())
		now.Lobby = Wait{Reason: w.Reason, Players: w.Players, Until: w.Until}
	}
	changed, again := h.pace.Tell(h.now, now)
	h.wake.at(again)
	if !changed {
		return
	}
	for _, p := range h.peers.all {
		if p.state != Connecting && p.state != Closed {
			h.peers.mark(p)
		}
	}
}

// appendWait appends what the match waits for, unless the peer knows it.
func (p *peer) appendWait(dst []byte, w *protocol.Writer, now lockstep.Time, of *pace.Pace) []byte {
	if p.state == Connecting || p.state == Closed || p.waitVersion == of.Version() {
		return dst
	}
	p.waitVersion = of.Version()
	told := of.Told()
	m := protocol.Message{Kind: protocol.KindHeld, Text: told.Reason, UntilMS: milliseconds(told.Until - now)}
	if told.Reason != "" {
		m.SinceMS = milliseconds(now - told.Since)
	}
	for _, seat := range told.Players {
		m.Seats = append(m.Seats, byte(seat))
	}
	return w.Append(dst, &m)
}

// milliseconds returns a time in milliseconds, 0 for a negative one.
func milliseconds(t lockstep.Time) uint32 { return uint32(min(max(t, 0).Milliseconds(), 1<<32-1)) }

// A StartPolicy says when a match leaves its lobby. In the lobby no tick is sealed, and everybody sees the first state.
type StartPolicy = lobby.Policy

// ErrBegun is the error of [Admin.Start] for a match that has left its lobby.
var ErrBegun = errors.New("lockstep: host: the match has begun")

// Start ends the lobby at once.
func (a Admin) Start(now lockstep.Time) error {
	a.h.now = max(a.h.now, now)
	if !a.h.lobby.Open() || a.h.ending.Over() {
		return ErrBegun
	}
	a.h.lobby.Close()
	a.h.pace.Begin()
	a.h.made.event(a.h.log.now(), Event{Kind: MatchBegun, Player: lockstep.System})
	a.h.tellWait()
	return nil
}

// noteReady writes the readiness of a player to the log, or later if a limit is exceeded.
func (h *Host) noteReady(p lockstep.Player) {
	says, unwritten := h.lobby.Unwritten(p)
	if !unwritten || h.seats[p].peer == nil {
		return
	}
	text := record.ReadyNo
	if says {
		text = record.ReadyYes
	}
	if !h.log.talk.Ready(h.budget.Purse(h.now, &h.seats[p].peer.tab), text) {
		h.wake.at(h.now + lockstep.Second)
		return
	}
	h.lobby.Written(p)
	_ = h.c.Note(p, record.TopicReady, text) // an error ends the match; Advance handles that
	h.wake.at(h.now)
}

// tellSeats notes who has which seat, while no tick is sealed that could tell the peers.
func (h *Host) tellSeats() {
	if !h.untold || !h.lobby.Open() && !h.pace.Waiting() && !h.c.Paused() {
		return
	}
	h.untold = false
	for i := range h.seats {
		if p := lockstep.Player(i); h.seats[i].bot != nil {
			_ = h.log.introduce(p, &h.seats[i]) // an error ends the match; Advance handles that
		} else {
			h.log.show(p, &h.seats[i], h.seats[i].want.text())
		}
	}
}

// An InactivePolicy is how a Host treats a player who is connected and gives no command.
type InactivePolicy = idle.Policy

// An InactiveAction is what follows the event [PeerInactive].
type InactiveAction = idle.Action

// The actions.
const (
	ReportInactive   = idle.Report   // nothing more
	TakeOverInactive = idle.TakeOver // end the connection and take the seat over, see Options.Substitute; the player may come back
	RemoveInactive   = idle.Remove   // end the connection and give up the seat
)

const noCommand = "no command for a long time"

// countIdle counts a tick for the players who could have commanded in it.
func (h *Host) countIdle() {
	for i := range h.seats {
		s, player := &h.seats[i], lockstep.Player(i)
		if s.peer == nil || s.peer.state != Live || s.told != here {
			continue
		}
		v, p := h.idle.Tick(player, s.guest), s.peer
		if v.Warn {
			h.private(p, errorMessage(protocol.ErrorInactive, fmt.Sprintf("%s: without one you lose your seat in %d s", noCommand, v.Left), ""))
		}
		if !v.Lost {
			continue
		}
		h.made.event(h.log.now(), Event{Kind: PeerInactive, Peer: p.id, Player: player, Number: v.After})
		h.log.announce(player, record.EventInactive, noCommand)
		if v.Then != ReportInactive {
			h.close(p, protocol.CloseInactive, noCommand)
		}
	}
}
