package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrBan is wrapped by the errors of [Host.Ban]: the ban has neither subject nor name nor address, it is over, a text is too
// long, or the match has the maximum number of bans.
var ErrBan = errors.New("lockstep: cannot ban")

// A Ban keeps a subject or the holders of a name out of a match, or all guests of an address who have no seat (see [Grant]). With several
// of these fields it concerns those whom all of them fit, such as one of several spectators with the same token.
type Ban struct {
	Subject string
	Name    string        // as grants have it; guests choose theirs
	Address string        // as it was given to Connect
	Until   lockstep.Time // on the caller's clock; 0: for the rest of the match
	Reason  string        // sent to peers that are kept out
	Guests  string        // an address; its guests without a seat are kept out, too
}

// Ended counts what a ban, a kick or [Host.Expel] has ended.
type Ended struct {
	Seats       int `json:"seats"`       // that were given up, of players who were connected or not
	Connections int `json:"connections"` // of players and spectators
}

// Add adds the counts of another match.
func (e *Ended) Add(other Ended) {
	e.Seats += other.Seats
	e.Connections += other.Connections
}

const (
	// maxBans bounds the bans of a match, including those of kicks.
	maxBans = 256

	// maxKicks is the number of bans from which on a kick adds none, so that kicks leave room for bans.
	maxKicks = 128

	// maxReason bounds the reason of a ban, in bytes.
	maxReason = 128

	// banMemory is the size of a ban without its texts, in bytes.
	banMemory = 128
)

// concerns reports whether a ban applies to a grant and an address.
func (b *Ban) concerns(g *Grant, from string) bool {
	of := g.Guest
	if b.named() {
		of = (b.Subject == "" || b.Subject == g.Subject) && (b.Name == "" || b.Name == g.Name)
	}
	return of && (b.Address == "" || b.Address == from)
}

// named reports whether a ban concerns certain people, and not all guests of an address.
func (b *Ban) named() bool { return b.Subject != "" || b.Name != "" }

// banOf returns the ban of the holder of a grant at an address. A guest is banned by address because it could make up
// another subject. A spectator is banned by both because it may share its token. The guests of the address are banned,
// too, because a token's holder could come back as a guest.
func banOf(g *Grant, from string) Ban {
	switch {
	case g.Guest && from != "":
		return Ban{Address: from}
	case g.Role == protocol.Spectator:
		return Ban{Subject: g.Subject, Address: from, Guests: from}
	}
	return Ban{Subject: g.Subject, Guests: from}
}

// text returns the reason that is sent to peers.
func (b *Ban) text(now lockstep.Time) string {
	duration := "the rest of the match"
	if b.Until > 0 {
		duration = fmt.Sprintf("%d s", (b.Until-now+lockstep.Second-1)/lockstep.Second)
	}
	if b.Reason == "" {
		return "banned for " + duration
	}
	return "banned for " + duration + ": " + b.Reason
}

// Bans returns the bans in force, including those of kicks, oldest first.
func (h *Host) Bans(now lockstep.Time) []Ban {
	h.at(now)
	h.expireBans()
	return slices.Clone(h.bans)
}

func (h *Host) expireBans() {
	h.bans = slices.DeleteFunc(h.bans, func(b Ban) bool { return b.Until > 0 && b.Until <= h.now })
}

// Ban adds a ban, ends the connections that it concerns, and gives up their seats. It returns what it has ended; the ban holds
// for newcomers, too. It replaces a ban of the same subject, name and address. If 256 others are in force, it returns an error that
// wraps [ErrBan] and does nothing.
func (h *Host) Ban(now lockstep.Time, b Ban) (Ended, error) {
	h.at(now)
	if err := h.addBan(b, maxBans); err != nil {
		return Ended{}, err
	}
	return h.expelIf(b.concerns, b.text(h.now)), h.c.Err()
}

// BanPlayer bans the player of a seat, connected or not. A guest's subject is unverified, so its address is banned;
// other guests of that address keep their seats. For any other player, the guests of the address are banned in addition
// to the subject.
func (h *Host) BanPlayer(now lockstep.Time, player lockstep.Player, until lockstep.Time, reason string) (ended Ended, _ error) {
	h.at(now)
	if err := h.taken(player); err != nil {
		return ended, err
	}
	if h.isBot(player) {
		return ended, fmt.Errorf("%w: player %d is a bot", ErrBan, player)
	}
	s := &h.seats[player]
	b := banOf(s.grant(), s.from)
	b.Until, b.Reason = until, reason
	if err := h.addBan(b, maxBans); err != nil {
		return ended, err
	}
	ended = h.giveUp(player, protocol.CloseBanned, b.text(h.now))
	if b.Subject != "" {
		ended.Add(h.expelIf(b.concerns, b.text(h.now))) // from other seats, or as a spectator
	}
	h.logSeats()
	return ended, h.c.Err()
}

// BanPeer bans the holder of a welcomed connection, as BanPlayer does.
func (h *Host) BanPeer(now lockstep.Time, id PeerID, until lockstep.Time, reason string) (Ended, error) {
	h.at(now)
	p := h.find(id)
	if p == nil || p.state == Closed || p.state == Connecting {
		return Ended{}, fmt.Errorf("%w: no connection %d is in the match", ErrBan, id)
	}
	if p.seat != lockstep.System {
		return h.BanPlayer(now, p.seat, until, reason)
	}
	b := banOf(p.grant(), p.from)
	b.Until, b.Reason = until, reason
	if err := h.addBan(b, maxBans); err != nil {
		return Ended{}, err
	}
	h.close(p, protocol.CloseBanned, b.text(h.now))
	return Ended{Connections: 1}, h.c.Err()
}

// Unban ends the ban of a subject, name and address. It returns false if there is none.
func (h *Host) Unban(now lockstep.Time, b Ban) bool {
	h.at(now)
	h.expireBans()
	i := h.findBan(&b)
	if i >= 0 {
		h.bans = slices.Delete(h.bans, i, i+1)
		h.banChanges++
	}
	return i >= 0
}

// BanChanges counts how often a ban was added or ended before its time, so that the caller can keep [Host.Bans] elsewhere.
func (h *Host) BanChanges() uint64 { return h.banChanges }

func (h *Host) findBan(of *Ban) int {
	return slices.IndexFunc(h.bans, func(b Ban) bool { return b.Subject == of.Subject && b.Name == of.Name && b.Address == of.Address })
}

// addBan adds a ban unless there are most of them already.
func (h *Host) addBan(b Ban, most int) error {
	switch {
	case !b.named() && b.Address == "":
		return fmt.Errorf("%w: want a subject, a name or an address", ErrBan)
	case len(b.Subject) > budget.MaxKey || max(len(b.Name), len(b.Address), len(b.Guests)) > record.MaxName:
		return fmt.Errorf("%w: got %d bytes of subject, %d of name and %d of address, want at most %d, %d and %d", ErrBan, len(b.Subject), len(b.Name), max(len(b.Address), len(b.Guests)), budget.MaxKey, record.MaxName, record.MaxName)
	case b.Until != 0 && b.Until <= h.now:
		return fmt.Errorf("%w: got a ban that is over", ErrBan)
	}
	b.Subject, b.Name, b.Address, b.Reason, b.Guests = strings.Clone(b.Subject), strings.Clone(b.Name), strings.Clone(b.Address), strings.Clone(pack.Clip(b.Reason, maxReason)), strings.Clone(b.Guests)
	if i := h.findBan(&b); i >= 0 {
		h.bans[i] = b
		h.banChanges++
		return nil
	}
	if h.expireBans(); len(h.bans) >= most {
		return fmt.Errorf("%w: %d others hold", ErrBan, len(h.bans))
	}
	h.bans = append(h.bans, b)
	h.banChanges++
	return nil
}

// keepOut bans the holder of a grant for Options.KickTime, unless a longer ban exists or there are too many.
func (h *Host) keepOut(g *Grant, from, reason string) {
	b := banOf(g, from)
	b.Until, b.Reason = h.now+h.options.KickTime, reason
	if i := h.findBan(&b); i >= 0 && (h.bans[i].Until == 0 || h.bans[i].Until > b.Until) {
		return
	}
	_ = h.addBan(b, maxKicks) // without room for a ban it is still a kick
}

// banned returns the ban of a newcomer, or nil. A ban of an address does not concern guests who have seats: they may
// come back.
func (h *Host) banned(g *Grant, from string) *Ban {
	h.expireBans()
	guest := g.Guest && !h.seated(g.Subject)
	for i := range h.bans {
		b := &h.bans[i]
		if b.concerns(g, from) && (b.named() || guest) || guest && b.Guests != "" && b.Guests == from {
			return b
		}
	}
	return nil
}

// seated reports whether a subject has a seat.
func (h *Host) seated(subject string) bool {
	return subject != "" && slices.ContainsFunc(h.seats, func(s hostSeat) bool { return s.want != vacant && same(s.owner, subject) })
}

// Expel ends the connections and sessions of the grants that a function reports, and gives up their seats. They may
// come back if Authorize accepts them. The function is called for each seat and spectator, and must not call the Host.
// Expel returns what it has ended.
func (h *Host) Expel(now lockstep.Time, of func(*Grant) bool, reason string) Ended {
	h.at(now)
	return h.expelIf(func(g *Grant, _ string) bool { return of(g) }, reason)
}

// expelIf is Expel by grant and address.
func (h *Host) expelIf(of func(g *Grant, from string) bool, text string) (ended Ended) {
	for i := range h.seats {
		if s := &h.seats[i]; s.want != vacant && of(s.grant(), s.from) {
			ended.Add(h.giveUp(lockstep.Player(i), protocol.CloseBanned, text))
		}
	}
	for _, p := range h.peers {
		if p.seat == lockstep.System && p.state != Connecting && p.state != Closed && of(p.grant(), p.from) {
			h.close(p, protocol.CloseBanned, text)
			ended.Connections++
		}
	}
	h.logSeats()
	return ended
}

// grant returns the grant of the holder of a seat, as far as it is kept.
func (s *hostSeat) grant() *Grant {
	return &Grant{Role: s.role, Subject: s.owner, Name: s.name, Guest: s.guest, ID: s.token}
}

// grant returns the grant of a welcomed peer, as far as it is kept.
func (p *peer) grant() *Grant {
	return &Grant{Role: p.role, Subject: p.subject, Name: p.name, Guest: p.guest, ID: p.token}
}

// taken returns an error if the seat is free.
func (h *Host) taken(player lockstep.Player) error {
	if int(player) >= len(h.seats) || h.seats[player].want == vacant {
		return fmt.Errorf("%w: player %d is not in the match", coordinator.ErrSeat, player)
	}
	return nil
}

// giveUp takes a seat from its player, connected or not.
func (h *Host) giveUp(player lockstep.Player, code protocol.CloseCode, reason string) Ended {
	if p := h.seats[player].peer; p != nil {
		h.close(p, code, reason)
		return Ended{Seats: 1, Connections: 1}
	}
	h.seats[player].why = reason
	h.vacate(player)
	h.event(Event{Kind: PeerLeft, Player: player, Code: code, Text: reason})
	return Ended{Seats: 1}
}

// kick ends a connection and keeps its holder out for a while.
func (h *Host) kick(p *peer, reason string) {
	if p.state != Connecting {
		h.keepOut(p.grant(), p.from, reason)
	}
	h.close(p, protocol.CloseKicked, reason)
}

// bansMemory returns the memory of the bans, in bytes.
func (h *Host) bansMemory() int {
	sum := 0
	for i := range h.bans {
		b := &h.bans[i]
		sum += banMemory + len(b.Subject) + len(b.Name) + len(b.Address) + len(b.Reason) + len(b.Guests)
	}
	return sum
}
