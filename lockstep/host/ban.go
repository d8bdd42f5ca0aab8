package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/bans"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

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
func (b Bans) Changes() uint64 { return b.h.bans.Changes() }

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
	if b.h.seats[player].bot != nil {
		return ended, fmt.Errorf("%w: player %d is a bot", ErrBan, player)
	}
	s := &b.h.seats[player]
	ban := bans.For(s.grant().person(s.from))
	ban.Until, ban.Reason = until, reason
	if err := b.h.bans.Add(b.h.now, ban); err != nil {
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
	if p == nil || p.state == Closed || p.state == Connecting {
		return Ended{}, fmt.Errorf("%w: no connection %d is in the match", ErrBan, id)
	}
	if p.seat != lockstep.System {
		return b.AddPlayer(now, p.seat, until, reason)
	}
	ban := bans.For(p.grant().person(p.from))
	ban.Until, ban.Reason = until, reason
	if err := b.h.bans.Add(b.h.now, ban); err != nil {
		return Ended{}, err
	}
	b.h.close(p, protocol.CloseBanned, ban.Text(b.h.now))
	return Ended{Connections: 1}, b.h.c.Err()
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
