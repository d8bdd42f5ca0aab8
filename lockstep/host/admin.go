package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/bans"
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
	if s := &a.h.seats.table[player]; s.bot == nil {
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

// ErrBegun is the error of [Admin.Start] for a match that has left its lobby.
var ErrBegun = errors.New("lockstep: host: the match has begun")

// Start ends the lobby at once.
func (a Admin) Start(now lockstep.Time) error {
	a.h.now = max(a.h.now, now)
	if !a.h.lobby.Open || a.h.ending.Over {
		return ErrBegun
	}
	a.h.lobby.Close()
	a.h.pace.Begin()
	a.h.out.event(Event{Kind: MatchBegun, Player: lockstep.System})
	a.h.tellWait()
	return nil
}

// Hold stops the sealing of ticks for a reason of the server, such as a full disk, until it is called again. A Wait
// without a Reason lets the match continue. Since is ignored.
func (a Admin) Hold(now lockstep.Time, w Wait) {
	a.h.now = max(a.h.now, now)
	w.Reason = pack.Clip(w.Reason, record.MaxNote)
	before := a.h.pace.Held()
	if a.h.ending.Over || !a.h.pace.Hold(a.h.now, w) {
		return
	}
	if w.Reason != before {
		a.h.wake.at(a.h.lobby.Hold(a.h.now, before != "", a.h.seats.occupants()))
		kind := MatchHeld
		if w.Reason == "" {
			kind = MatchGoesOn
		}
		a.h.out.event(Event{Kind: kind, Player: lockstep.System, Text: w.Reason})
	}
	a.h.tellWait()
}

// Pause stops the match after the next tick, on behalf of one of its players. A match that is paused already cannot be
// paused again.
func (a Admin) Pause(now lockstep.Time, player lockstep.Player) error {
	a.h.now = max(a.h.now, now)
	_, err := a.h.c.Pause(player)
	if err == nil {
		a.h.pace.Pause(player)
		a.h.out.event(Event{Kind: MatchPaused, Player: player})
	}
	return err
}

// Resume continues a paused match, on behalf of one of its players or of System.
func (a Admin) Resume(now lockstep.Time, player lockstep.Player) error {
	a.h.now = max(a.h.now, now)
	_, err := a.h.c.Resume(player)
	if err == nil {
		a.h.out.event(Event{Kind: MatchResumed, Player: player})
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
		a.h.out.event(Event{Kind: DelayChanged, Player: lockstep.System, Number: int64(ticks)})
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
	if !a.h.ending.Over {
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
	if !a.h.ending.Over {
		_ = a.h.c.Event(lockstep.System, record.EventSuspended, fmt.Sprintf("after tick %d", a.h.c.Now())) // after an error the match is over
		a.h.finish()
	}
	for _, p := range a.h.peers.all {
		a.h.peers.closeEnded(p, a.h.c.Err())
	}
	a.h.release()
}

// logSpeed logs a speed.
func (a Admin) logSpeed(percent uint16) error {
	_, err := a.h.c.SetSpeed(percent)
	if err == nil {
		a.h.out.event(Event{Kind: SpeedChanged, Player: lockstep.System, Number: int64(percent)})
	}
	return err
}

// expel is Expel by grant and address.
func (a Admin) expel(of func(g *Grant, from string) bool, text string) (ended Ended) {
	for i := range a.h.seats.table {
		if s := &a.h.seats.table[i]; s.want != vacant && of(s.grant(), s.from) {
			ended.Add(a.giveUp(lockstep.Player(i), protocol.CloseBanned, text))
		}
	}
	for _, p := range a.h.peers.all {
		if p.watches() && of(p.grant(), p.from) {
			a.h.peers.close(p, protocol.CloseBanned, text)
			ended.Connections++
		}
	}
	a.h.logSeats()
	return ended
}

// giveUp takes a seat from its player, connected or not.
func (a Admin) giveUp(player lockstep.Player, code protocol.CloseCode, reason string) Ended {
	if p := a.h.seats.table[player].peer; p != nil {
		a.h.peers.close(p, code, reason)
		a.h.release()
		return Ended{Seats: 1, Connections: 1}
	}
	a.h.seats.table[player].why = reason
	a.h.seats.vacate(player)
	a.h.out.event(Event{Kind: PeerLeft, Player: player, Code: code, Text: reason})
	return Ended{Seats: 1}
}

// kick ends a connection and keeps its holder out for a while.
func (a Admin) kick(p *peer, reason string) {
	if p.state != Connecting {
		a.h.bans.KeepOut(a.h.now, a.h.now+a.h.options.KickTime, p.grant().person(p.from), reason)
	}
	a.h.peers.close(p, protocol.CloseKicked, reason)
}

// ErrBan is wrapped by the errors of [Bans]: the ban has neither subject nor name nor address, it is over, a text is too
// long, or the match has the maximum number of bans.
var ErrBan = bans.Err

// A Ban keeps a subject or the holders of a name out of a match, or all guests of an address who have no seat (see [Grant]). With several
// of these fields it concerns those whom all of them fit, such as one of several spectators with the same token.
type Ban = bans.Ban

// Ended counts what a ban, a kick or [Admin.Expel] has ended.
type Ended struct {
	Seats       int `json:"seats"`       // that were given up, of players who were connected or not
	Connections int `json:"connections"` // of players and spectators
}

// Add adds the counts of another match.
func (e *Ended) Add(other Ended) {
	e.Seats += other.Seats
	e.Connections += other.Connections
}

// Bans are those who are kept out of a match, also by kicks. See [Host.Bans].
type Bans struct{ h *Host }

// Bans returns the bans of the match.
func (h *Host) Bans() Bans { return Bans{h} }

// List returns the bans in force, including those of kicks, oldest first.
func (b Bans) List(now lockstep.Time) []Ban {
	b.h.now = max(b.h.now, now)
	return b.h.bans.List(b.h.now)
}

// Changes counts how often a ban was added or ended before its time, so that the caller can keep [Bans.List] elsewhere.
func (b Bans) Changes() uint64 { return b.h.bans.Changes }

// Remove ends the ban of a subject, name and address. It returns false if there is none.
func (b Bans) Remove(now lockstep.Time, ban Ban) bool {
	b.h.now = max(b.h.now, now)
	return b.h.bans.Remove(b.h.now, ban)
}

// Add adds a ban, ends the connections that it concerns, and gives up their seats. It returns what it has ended; the ban holds
// for newcomers, too. It replaces a ban of the same subject, name and address. If 256 others are in force, it returns an error that
// wraps [ErrBan] and does nothing.
func (b Bans) Add(now lockstep.Time, ban Ban) (Ended, error) {
	b.h.now = max(b.h.now, now)
	if err := b.h.bans.Add(b.h.now, ban); err != nil {
		return Ended{}, err
	}
	return b.expel(&ban), b.h.c.Err()
}

// expel ends what a ban concerns.
func (b Bans) expel(ban *Ban) Ended {
	return b.h.Admin().expel(func(g *Grant, from string) bool { return ban.Concerns(g.person(from)) }, ban.Text(b.h.now))
}

// AddPlayer bans the player of a seat, connected or not. A guest's subject is unverified, so its address is banned;
// other guests of that address keep their seats. For any other player, the guests of the address are banned in addition
// to the subject.
func (b Bans) AddPlayer(now lockstep.Time, player lockstep.Player, until lockstep.Time, reason string) (ended Ended, _ error) {
	b.h.now = max(b.h.now, now)
	if err := b.h.seats.taken(player); err != nil {
		return ended, err
	}
	if b.h.seats.table[player].bot != nil {
		return ended, fmt.Errorf("%w: player %d is a bot", ErrBan, player)
	}
	s := &b.h.seats.table[player]
	ban, err := b.add(s.grant().person(s.from), until, reason)
	if err != nil {
		return ended, err
	}
	ended = b.h.Admin().giveUp(player, protocol.CloseBanned, ban.Text(b.h.now))
	if ban.Subject != "" {
		ended.Add(b.expel(&ban)) // from other seats, or as a spectator
	}
	b.h.logSeats()
	return ended, b.h.c.Err()
}

// AddPeer bans the holder of a welcomed connection, as AddPlayer does.
func (b Bans) AddPeer(now lockstep.Time, id PeerID, until lockstep.Time, reason string) (Ended, error) {
	b.h.now = max(b.h.now, now)
	p := b.h.peers.find(id)
	if p == nil || !p.joined() {
		return Ended{}, fmt.Errorf("%w: no connection %d is in the match", ErrBan, id)
	}
	if p.seat != lockstep.System {
		return b.AddPlayer(now, p.seat, until, reason)
	}
	ban, err := b.add(p.grant().person(p.from), until, reason)
	if err != nil {
		return Ended{}, err
	}
	b.h.peers.close(p, protocol.CloseBanned, ban.Text(b.h.now))
	b.h.release()
	return Ended{Connections: 1}, b.h.c.Err()
}

// add adds the ban of a person.
func (b Bans) add(who bans.Person, until lockstep.Time, reason string) (Ban, error) {
	ban := bans.For(who)
	ban.Until, ban.Reason = until, reason
	return ban, b.h.bans.Add(b.h.now, ban)
}

// person returns the holder of a grant at an address, as bans see it.
func (g *Grant) person(from string) bans.Person {
	return bans.Person{Subject: g.Subject, Name: g.Name, Address: from, Guest: g.Guest, Spectator: g.Role == protocol.Spectator}
}

// grant returns the grant of the holder of a seat, as far as it is kept.
func (s *hostSeat) grant() *Grant {
	return &Grant{Role: s.role, Subject: s.owner, Name: s.name, Guest: s.guest, ID: s.token}
}

// grant returns the grant of a welcomed peer, as far as it is kept.
func (p *peer) grant() *Grant {
	return &Grant{Role: p.role, Subject: p.subject, Name: p.name, Guest: p.guest, ID: p.token}
}

// Limits are the limits among the [Options] that can change while the match runs. The fields are those of Options, also their defaults.
type Limits struct {
	MaxSpectators  int
	GuestSeats     int
	InactiveGuests lockstep.Time // Inactive.Guests
}

// SetIn sets the limits in the options of a match that does not run yet.
func (l Limits) SetIn(o *Options) {
	o.MaxSpectators, o.GuestSeats, o.Inactive.Guests = l.MaxSpectators, l.GuestSeats, l.InactiveGuests
}

// SetLimits changes limits at once. Spectators beyond their number are closed, the latest first. A guest who has been idle for longer than
// a new limit is warned again. After an error nothing has changed.
func (a Admin) SetLimits(now lockstep.Time, l Limits) error {
	a.h.now = max(a.h.now, now)
	o := a.h.options
	l.SetIn(&o)
	if err := o.complete(&a.h.header.Settings); err != nil {
		return err
	}
	a.h.options = o
	a.h.idle.SetGuests(o.Inactive.Guests)
	for i := len(a.h.peers.all) - 1; i >= 0 && a.h.peers.spectators() > o.MaxSpectators; i-- {
		if p := a.h.peers.all[i]; p.watches() {
			a.h.peers.close(p, protocol.CloseBusy, noPlace)
		}
	}
	a.h.release()
	a.h.budget.Resize(a.h.now, len(a.h.seats.table)+o.MaxSpectators)
	a.h.peers.closing = len(a.h.peers.all)
	for i := range a.h.seats.table {
		if s := &a.h.seats.table[i]; s.peer != nil && s.guest {
			a.h.idle.Ease(lockstep.Player(i))
		}
	}
	return nil
}
