package host

import (
	"crypto/subtle"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
