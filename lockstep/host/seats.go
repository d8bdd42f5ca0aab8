package host

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
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

// A table has the seats of a match: who holds them, who may take them, and what the log says of them. It knows neither connections
// that hold none, nor the log.
type table []hostSeat

// bySession returns the seat that a session token resumes. It compares the token with every seat in constant time.
func (all table) bySession(t protocol.SessionToken) (seat lockstep.Player, ok bool) {
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
func (all table) holderOf(match lockstep.MatchID, g *Grant) (lockstep.Player, bool) {
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

// Claim returns the claim of a subject on a seat: half of a SHA-256 hash of the match and the subject, in hexadecimal. So
// the log does not have the subject.
func Claim(match lockstep.MatchID, subject string) string {
	sum := sha256.Sum256(append(match[:], subject...))
	return hex.EncodeToString(sum[:sha256.Size/2])
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
func (all table) seated(subject string) bool {
	return subject != "" && slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && same(s.owner, subject) })
}

// known is seated with those who had a seat before a recovery.
func (all table) known(match lockstep.MatchID, subject string) bool {
	claim := Claim(match, subject)
	return all.seated(subject) || slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && s.owner == "" && same(s.claim, claim) })
}

// taken returns an error if a seat is free.
func (all table) taken(player lockstep.Player) error {
	if int(player) >= len(all) || all[player].want == vacant {
		return fmt.Errorf("%w: player %d is not in the match", coordinator.ErrSeat, player)
	}
	return nil
}

// peopled reports whether a person has a seat.
func (all table) peopled() bool {
	for i := range all {
		if s := &all[i]; s.want != vacant && s.bot == nil {
			return true
		}
	}
	return false
}

// seen reports whether all people who have seats have seen the end of the match.
func (all table) seen() bool {
	return !slices.ContainsFunc(all, func(s hostSeat) bool { return s.want != vacant && s.bot == nil && !s.sawEnd })
}

// players returns the number of connected players and bots.
func (all table) players() (n int) {
	for i := range all {
		if all[i].want == here {
			n++
		}
	}
	return n
}

// leastGuestSeats is the least number of seats that the guests of one address keep unless the options say otherwise: a duel at home.
const leastGuestSeats = 2

// mostGuests returns how many seats the guests of one address may keep when others want one, see Options.GuestSeats.
func (all table) mostGuests(limit int) int {
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
func (all table) crowded(from string, most int) (players []lockstep.Player) {
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
func (all table) seatBots(bots []lockstep.Bot) (any bool) {
	for p, bot := range bots {
		if s := &all[p]; bot != nil {
			s.bot, s.want, s.awaited, s.name, any = bot, here, false, fmt.Sprintf("bot %d", p), true
		}
	}
	return any
}

// inherit takes over the seats of the match in whose state this one begins.
func (all table) inherit(now lockstep.Time, from table, bots []lockstep.Bot) {
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
func (all table) reserve(match lockstep.MatchID, players []string) error {
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

// occupants returns the present occupants of the seats.
func (all table) occupants() []lobby.Seat {
	seats := make([]lobby.Seat, len(all))
	for i := range all {
		s := &all[i]
		seats[i] = lobby.Seat{Bot: s.bot != nil, Here: s.want == here, Away: s.want == away, Account: s.account}
	}
	return seats
}

// participants describes the connected players.
func (all table) participants() (list []Participant) {
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
func (all table) tickTold() {
	for i := range all {
		if s := &all[i]; s.sealing {
			s.shown, s.sealing = s.presence(s.told), false
		}
	}
}

// roster returns notes and events that tell a joiner what the log has told the others: who has the seats, and what was said last
// before a position.
func (all table) roster(t *talk.Talk, l *lobby.Lobby, before protocol.Position) (notes []byte) {
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

// Beginnings of the texts of record.EventSubstitute: which commands are those of a bot. A recovery needs these events, so they do not
// count as Options.MaxNoteBytes: like the commands of System about the seat, they are limited by the grace time and the rate of returns.
const (
	fromCommand = "from command "
	toCommand   = "to command "
)

// A substitution is the bot for a seat that is taken over, and the sequences that the Host itself has used for its seat.
type substitution struct {
	asked bool         // Options.Substitute, since the seat was taken over
	bot   lockstep.Bot // nil for nobody, or after a failure
	lent  []span
	open  bool // the last span goes on
}

// A span is a range of sequences.
type span struct{ first, last lockstep.Sequence }

// maxSpans bounds the spans of a seat. Older sequences are stale: a client that connects again has at most a window of
// unanswered commands.
const maxSpans = 64

// has reports whether the Host itself has used a sequence. high is the last decided one.
func (s *substitution) has(seq, high lockstep.Sequence) bool {
	for i, lent := range s.lent {
		if s.open && i == len(s.lent)-1 {
			lent.last = high
		}
		if lent.first <= seq && seq <= lent.last {
			return true
		}
	}
	return false
}

func (s *substitution) begin(first lockstep.Sequence) {
	s.open = true
	s.lent = append(s.lent, span{first: first})
	if len(s.lent) > maxSpans {
		s.lent = slices.Delete(s.lent, 0, 1)
	}
}

func (s *substitution) end(last lockstep.Sequence) {
	if s.open {
		s.lent[len(s.lent)-1].last = last
	}
	s.open, s.asked, s.bot = false, false, nil
}

// recorded takes an event of a log.
func (s *substitution) recorded(text string) {
	if n, ok := strings.CutPrefix(text, fromCommand); ok {
		s.begin(sequenceOf(n))
	} else if n, ok := strings.CutPrefix(text, toCommand); ok {
		s.end(sequenceOf(n))
	}
}

// sequenceOf returns the sequence that a text names; 0 if it names none.
func sequenceOf(text string) lockstep.Sequence {
	n, _ := strconv.ParseUint(text, 10, 32)
	return lockstep.Sequence(n)
}

// recovered forgets the sequences after the last one in the log: they are free again. takenOver says that the span that
// is open goes on.
func (s *substitution) recovered(high lockstep.Sequence, takenOver bool) {
	if !takenOver {
		s.end(high)
	}
	for i := range s.lent {
		s.lent[i].last = min(s.lent[i].last, high)
	}
}

// ask returns the bot of a player whose seat was taken over, or nil. It asks once for each time.
func (s *substitution) ask(of func(lockstep.Player) lockstep.Bot, p lockstep.Player) (_ lockstep.Bot, err error) {
	if !s.asked && of != nil {
		s.asked = true
		err = guarded(func() error {
			s.bot = of(p)
			return nil
		})
	}
	return s.bot, err
}

// guarded runs code of a bot, and turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			//samestep:allow runtime for people: no simulation reads it
			err = &botPanic{v, string(debug.Stack())}
		}
	}()
	return f()
}

// A botPanic is a panic of a bot, or of what makes it.
type botPanic struct {
	value any
	stack string
}

func (e *botPanic) Error() string { return fmt.Sprintf("the bot panicked: %v", e.value) }
