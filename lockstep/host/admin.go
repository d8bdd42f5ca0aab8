package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Admin acts on a match for its operator. See [Host.Admin].
type Admin struct{ h *Host }

// Admin returns what an operator may do. Each method takes the time, like those of the Host.
func (h *Host) Admin() Admin { return Admin{h} }

// Kick ends a connection. A player also loses the seat. The holder is kept out for Options.KickTime, as by
// [Bans.AddPeer].
func (a Admin) Kick(now lockstep.Time, id PeerID, reason string) bool {
	a.h.now = max(a.h.now, now)
	p := a.h.peers.find(id)
	if p == nil || p.state == Closed {
		return false
	}
	a.kick(p, reason)
	a.h.logSeats()
	return true
}

// Remove is Kick for the player of a seat, connected or not. It returns what it has ended.
func (a Admin) Remove(now lockstep.Time, player lockstep.Player, reason string) (Ended, error) {
	a.h.now = max(a.h.now, now)
	if err := a.h.seats.taken(player); err != nil {
		return Ended{}, err
	}
	if s := &a.h.seats[player]; s.bot == nil {
		a.h.bans.KeepOut(a.h.now, a.h.now+a.h.options.KickTime, s.grant().person(s.from), reason)
	}
	ended := a.giveUp(player, protocol.CloseKicked, reason)
	a.h.logSeats()
	return ended, a.h.c.Err()
}

// Expel ends the connections and sessions of the grants that a function reports, and gives up their seats. They may
// come back if Authorize accepts them. The function is called for each seat and spectator, and must not call the Host.
// Expel returns what it has ended.
func (a Admin) Expel(now lockstep.Time, of func(*Grant) bool, reason string) Ended {
	a.h.now = max(a.h.now, now)
	return a.expel(func(g *Grant, _ string) bool { return of(g) }, reason)
}

// Pause stops the match after the next tick, on behalf of one of its players. A match that is paused already cannot be
// paused again.
func (a Admin) Pause(now lockstep.Time, player lockstep.Player) error {
	a.h.now = max(a.h.now, now)
	_, err := a.h.c.Pause(player)
	if err == nil {
		a.h.pace.Pause(player)
		a.h.made.event(a.h.log.now(), Event{Kind: MatchPaused, Player: player})
	}
	return err
}

// Resume continues a paused match, on behalf of one of its players or of System.
func (a Admin) Resume(now lockstep.Time, player lockstep.Player) error {
	a.h.now = max(a.h.now, now)
	_, err := a.h.c.Resume(player)
	if err == nil {
		a.h.made.event(a.h.log.now(), Event{Kind: MatchResumed, Player: player})
		a.h.tellWait()
	}
	return err
}

// SetSpeed makes the match run at a percentage of its tick rate, 10 to 1000.
func (a Admin) SetSpeed(now lockstep.Time, percent uint16) error {
	a.h.now = max(a.h.now, now)
	if err := record.CheckSpeed(percent); err != nil {
		return err
	}
	err := a.logSpeed(percent)
	if err == nil {
		a.h.pace.SetSpeed(percent)
	}
	return err
}

// SetInputDelay sets the input delay until a DelayPolicy changes it.
func (a Admin) SetInputDelay(now lockstep.Time, ticks lockstep.Tick) error {
	a.h.now = max(a.h.now, now)
	_, err := a.h.c.SetInputDelay(ticks)
	if err == nil {
		a.h.made.event(a.h.log.now(), Event{Kind: DelayChanged, Player: lockstep.System, Number: int64(ticks)})
	}
	return err
}

// Keyframe writes the present state into the log, so that readers of the replay can begin there.
func (a Admin) Keyframe(now lockstep.Time) error {
	a.h.now = max(a.h.now, now)
	return a.h.c.Keyframe()
}

// End ends the match. Connected peers may read the rest of it.
func (a Admin) End(now lockstep.Time, reason string) error {
	a.h.now = max(a.h.now, now)
	err := a.h.c.End(reason)
	if err == nil {
		a.h.ending.End(reason)
	}
	if !a.h.ending.Over() {
		a.h.finish()
	}
	return err
}

// Shutdown suspends the match: it writes an event into the log, ends all connections and tells them when to come back. The
// log has no end, so a server can resume the match from it.
func (a Admin) Shutdown(now lockstep.Time, retry lockstep.Time) {
	a.suspend(now, retry, "the match is suspended: the server is shut down")
}

// Move is [Admin.Shutdown] for a match that another server continues.
func (a Admin) Move(now lockstep.Time, retry lockstep.Time) {
	a.suspend(now, retry, "the match moves to another server")
}

// suspend suspends the match. why is what everybody is told.
func (a Admin) suspend(now, retry lockstep.Time, why string) {
	a.h.now = max(a.h.now, now)
	a.h.ending.Suspend(retry, why)
	if !a.h.ending.Over() {
		_ = a.h.c.Event(lockstep.System, record.EventSuspended, fmt.Sprintf("after tick %d", a.h.c.Now())) // after an error the match is over
		a.h.finish()
	}
	for _, p := range a.h.peers.all {
		a.h.closeEnded(p)
	}
}

// logSpeed logs a speed.
func (a Admin) logSpeed(percent uint16) error {
	_, err := a.h.c.SetSpeed(percent)
	if err == nil {
		a.h.made.event(a.h.log.now(), Event{Kind: SpeedChanged, Player: lockstep.System, Number: int64(percent)})
	}
	return err
}

// expel is Expel by grant and address.
func (a Admin) expel(of func(g *Grant, from string) bool, text string) (ended Ended) {
	for i := range a.h.seats {
		if s := &a.h.seats[i]; s.want != vacant && of(s.grant(), s.from) {
			ended.Add(a.giveUp(lockstep.Player(i), protocol.CloseBanned, text))
		}
	}
	for _, p := range a.h.peers.all {
		if p.seat == lockstep.System && p.state != Connecting && p.state != Closed && of(p.grant(), p.from) {
			a.h.close(p, protocol.CloseBanned, text)
			ended.Connections++
		}
	}
	a.h.logSeats()
	return ended
}

// giveUp takes a seat from its player, connected or not.
func (a Admin) giveUp(player lockstep.Player, code protocol.CloseCode, reason string) Ended {
	if p := a.h.seats[player].peer; p != nil {
		a.h.close(p, code, reason)
		return Ended{Seats: 1, Connections: 1}
	}
	a.h.seats[player].why = reason
	a.h.vacate(player)
	a.h.made.event(a.h.log.now(), Event{Kind: PeerLeft, Player: player, Code: code, Text: reason})
	return Ended{Seats: 1}
}

// kick ends a connection and keeps its holder out for a while.
func (a Admin) kick(p *peer, reason string) {
	if p.state != Connecting {
		a.h.bans.KeepOut(a.h.now, a.h.now+a.h.options.KickTime, p.grant().person(p.from), reason)
	}
	a.h.close(p, protocol.CloseKicked, reason)
}
