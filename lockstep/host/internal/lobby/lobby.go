package lobby

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Policy says when a match leaves its lobby, in which no tick is sealed and everybody is shown the first state.
// In the lobby players take and leave seats, say that they are ready, and chat. An admin can end it at any time. A match
// that has left its lobby never comes back to it. The zero policy has no lobby.
type Policy struct {
	Players   int           // who must be there, bots not counted; 0 with Ready: one for each seat without a bot
	Ready     bool          // all who are there must have said that they are ready, see [protocol.KindReady]
	Countdown lockstep.Time // from then on until the first tick; it begins again when somebody leaves or is no longer ready

	// Deadline bounds with Ready how long some players can keep the others in the lobby. Time counts while at least half of those who
	// are there are ready, and the server does not hold the match. A fifth of it is what the lobby waits for one player, or for the
	// guests of one address: then it treats the player as ready. When it is over since the first moment at which enough players were
	// there, the match begins with those who are there. 5 minutes; negative: never.
	Deadline lockstep.Time
}

// MaxCountdown bounds Policy.Countdown.
const MaxCountdown = 3600 * lockstep.Second

// patienceShare is the part of [Policy.Deadline] for which a lobby waits for one player: a fifth.
const patienceShare = 5

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// A Seat is who has a seat now.
type Seat struct {
	Bot     bool
	Here    bool // its player is connected
	Away    bool // its player may come back
	Account budget.ID
}

// Accounts know for how long lobbies have waited for each account.
type Accounts interface {
	Await(now lockstep.Time, id budget.ID, dt lockstep.Time) lockstep.Time
	Awaited(id budget.ID) lockstep.Time
}

// A Purse pays for a change of mind.
type Purse interface {
	Take(k budget.Kind, n int) bool
}

// A Lobby is the time of a match before its first tick.
type Lobby struct {
	policy   Policy
	accounts Accounts
	open     bool
	begins   lockstep.Time // when the countdown ends; 0 without one
	full     bool          // as many players as the policy wants have been there at once
	waited   lockstep.Time // since then, for anybody
	at       lockstep.Time // up to which the times are counted
	words    []word        // by seat
}

// A word is what a player says about being ready.
type word struct {
	says    bool // the last one
	written bool // according to the log
}

// New returns the Lobby of a match with so many seats.
func New(p Policy, seats int, a Accounts) *Lobby {
	return &Lobby{policy: p, accounts: a, open: p != (Policy{}), words: make([]word, seats)}
}

// Open reports whether the match waits for its players to begin.
func (l *Lobby) Open() bool { return l.open }

// Close ends the lobby.
func (l *Lobby) Close() { l.open = false }

// Say takes a player's word that it is ready, or no longer. It returns false if the player has changed its mind too often, and stays
// ready.
func (l *Lobby) Say(p Purse, seat lockstep.Player, ready bool) bool {
	w := &l.words[seat]
	if !l.open {
		return true
	}
	if w.says && !ready && !p.Take(budget.Ready, 1) {
		return false
	}
	w.says = ready
	return true
}

// Unwritten reports whether the log does not have what a player has said last.
func (l *Lobby) Unwritten(seat lockstep.Player) (ready, unwritten bool) {
	w := l.words[seat]
	return w.says, l.open && w.says != w.written
}

// Written says that the log has what a player has said last.
func (l *Lobby) Written(seat lockstep.Player) { l.words[seat].written = l.words[seat].says }

// Ready reports whether a player is ready, according to the log.
func (l *Lobby) Ready(seat lockstep.Player) bool { return l.open && l.words[seat].written }

// Leave forgets what the player of a seat has said.
func (l *Lobby) Leave(seat lockstep.Player) { l.words[seat] = word{} }

// Awaits reports whether an open lobby waits for the player of a seat.
func (l *Lobby) Awaits(seat lockstep.Player, s Seat) bool {
	return l.open && (s.Away || s.Here && !l.words[seat].written)
}

// gathered returns how many people are ready and how many are there, and how many seats are for people.
func (l *Lobby) gathered(seats []Seat) (ready, came, people int) {
	for i, s := range seats {
		if s.Bot {
			continue
		}
		people++
		if !s.Here {
			continue
		}
		if came++; l.words[i].written {
			ready++
		}
	}
	return ready, came, people
}

// outOfPatience reports whether the lobby no longer waits for the player of a seat.
func (l *Lobby) outOfPatience(s Seat) bool {
	d := l.policy.Deadline
	return d > 0 && s.Account != 0 && l.accounts.Awaited(s.Account) >= d/patienceShare
}

// count charges the time since the last call to those for whom the lobby waits, and returns when one of them has had enough.
func (l *Lobby) count(now lockstep.Time, seats []Seat) (wake lockstep.Time) {
	wake = never
	if l.at == 0 {
		l.at = now
	}
	dt, deadline := now-l.at, l.policy.Deadline
	l.at = now
	ready, came, _ := l.gathered(seats)
	if deadline <= 0 || ready == 0 || 2*ready < came {
		return wake
	}
	if l.full {
		l.waited += dt
		wake = now + max(deadline-l.waited, 0) + 1
	}
	for i, s := range seats {
		if s.Account == 0 || !l.Awaits(lockstep.Player(i), s) {
			continue
		}
		if waited := l.accounts.Await(now, s.Account, dt); waited < deadline/patienceShare {
			wake = min(wake, now+deadline/patienceShare-waited+1)
		}
	}
	return wake
}

// Hold ends the count when the server begins to hold the match, and goes on when it no longer does: no player is charged for the
// server's time. held says whether it was held until now. Hold returns when to ask Time again at the latest.
func (l *Lobby) Hold(now lockstep.Time, held bool, seats []Seat) (wake lockstep.Time) {
	switch {
	case !l.open:
	case held:
		l.at = now
	default:
		return l.count(now, seats)
	}
	return never
}

// Forgive adds a time in which the server did not run.
func (l *Lobby) Forgive(now, late lockstep.Time) { l.at = min(l.at+late, now) }

// Time reports whether the lobby is over now. It returns when to ask again at the latest.
func (l *Lobby) Time(now lockstep.Time, seats []Seat) (over bool, wake lockstep.Time) {
	wake = l.count(now, seats)
	w := l.Wait(now, seats)
	return w.Reason == protocol.LobbyBegins && now >= w.Until, wake
}

// A Wait says why an open lobby is open.
type Wait struct {
	Reason  string            // protocol.LobbyPlayers, LobbyReady or LobbyBegins
	Players []lockstep.Player // of LobbyReady
	Until   lockstep.Time     // of LobbyBegins: when the countdown ends
}

// Wait returns why the lobby is open. It follows the countdown.
func (l *Lobby) Wait(now lockstep.Time, seats []Seat) Wait {
	if w := l.awaited(seats); w.Reason != "" {
		l.begins = 0
		return w
	}
	if l.begins == 0 {
		l.begins = now + l.policy.Countdown
	}
	return Wait{Reason: protocol.LobbyBegins, Until: l.begins}
}

// awaited returns what the lobby waits for before the countdown, or no Wait.
func (l *Lobby) awaited(seats []Seat) Wait {
	ready, here, people := l.gathered(seats)
	came, unready := here, []lockstep.Player(nil)
	for i, s := range seats {
		switch {
		case s.Bot:
		case l.outOfPatience(s):
			if !s.Here {
				came++ // as if it were there
			}
		case s.Here && !l.words[i].written:
			unready = append(unready, lockstep.Player(i))
		}
	}
	need := l.policy.Players
	if need == 0 && l.policy.Ready {
		need = people
	}
	need = min(need, people)
	l.full = l.full || came >= need
	late := l.policy.Deadline > 0 && l.waited >= l.policy.Deadline && ready > 0 && 2*ready >= here
	switch {
	case l.policy.Ready && late:
		return Wait{}
	case came < need:
		return Wait{Reason: protocol.LobbyPlayers}
	case l.policy.Ready && len(unready) > 0:
		return Wait{Reason: protocol.LobbyReady, Players: unready}
	}
	return Wait{}
}
