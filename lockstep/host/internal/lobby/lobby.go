// Package lobby decides when a match begins: which players are ready, whom the lobby waits for, and for how long. It is one of the
// machines that lockstep/host composes.
//
// # States
//
//	   ┌── enough players are present, and ready if required ──┐
//	   │                                                       ▼
//	waiting                                              counting down ──Countdown──► closed
//	   ▲                                                       │
//	   └── a player leaves, or is no longer ready ─────────────┘
//
// With the zero [Policy] a Lobby starts closed. [Lobby.Close] closes it at once. A closed Lobby never opens again, and ignores
// what players say about being ready.
//
// # Input
//
// A Lobby knows no connections. With each call the host passes the occupants of the seats ([Seat]) and the time. Bots are not counted.
//
// A Lobby does track readiness. [Lobby.Say] records what a player says, and [Lobby.Unwritten] reports whether the log still lacks it.
// A player counts as ready once the host has written that to the log and called [Lobby.Written], because only then does everybody
// know. [Lobby.Leave] resets a seat. Saying "ready" is free; taking it back is rate limited, so that a player cannot
// restart the countdown over and over.
//
// # Patience
//
// With Policy.Ready, the lobby waits for players who are away, and for players who are present but not ready. The clock runs while at
// least half of the present players are ready and the server does not hold the match ([Lobby.Hold]):
//
//   - per account: after a fifth of Policy.Deadline the lobby treats the account's players as present and ready. The accounts keep
//     this time, so leaving and joining again does not reset it, and guests of one address share it;
//   - overall: it starts when enough players are present for the first time. After Policy.Deadline the match begins without
//     the others.
//
// # Calls
//
// The host calls [Lobby.Time] before it seals a tick, and ends the lobby if the result is true. It calls [Lobby.Wait] for the
// reason that players are shown, [Lobby.Hold] when an admin or the server holds the match, and [Lobby.Forgive] after a stall. [Lobby.Awaits]
// tells which players can be voted out.
//
//samestep:deterministic
package lobby

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Policy says when a match leaves its lobby. In the lobby no tick is sealed, everybody sees the first state, and players take and
// leave seats, say that they are ready, and chat. An admin can end it at any time. A match never returns to its lobby. The zero
// Policy has no lobby.
type Policy struct {
	Players   int           // number of players required, not counting bots; 0 with Ready: one for each seat without a bot
	Ready     bool          // every present player must be ready, see [protocol.KindReady]
	Countdown lockstep.Time // from then until the first tick; restarts when a player leaves or is no longer ready

	// Deadline limits, with Ready, how long some players can keep the others in the lobby. The clock runs while at least half of the
	// present players are ready and the server does not hold the match. After a fifth of it the lobby treats one player, or the guests
	// of one address, as ready. After all of it, counted from the first time that enough players were present, the match begins with
	// the present players. Default 5 minutes; negative: no limit.
	Deadline lockstep.Time
}

// MaxCountdown bounds Policy.Countdown.
const MaxCountdown = 3600 * lockstep.Second

// patienceShare is the part of [Policy.Deadline] for which a lobby waits for one player: a fifth.
const patienceShare = 5

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// A Seat describes the present occupant of a seat.
type Seat struct {
	Bot     bool
	Here    bool // the player is connected
	Away    bool // the player is disconnected and may come back
	Account budget.ID
}

// A Lobby is the state of a match before its first tick.
type Lobby struct {
	policy   Policy
	accounts *budget.Ledger
	Open     bool
	begins   lockstep.Time // when the countdown ends; 0 without one
	full     bool          // enough players have been present at the same time
	waited   lockstep.Time // since then, for any player
	at       lockstep.Time // when the times were last counted
	words    []word        // by seat
}

// A word is the readiness of a player.
type word struct {
	says    bool // what the player said last
	written bool // what the log says
}

// New returns the Lobby of a match with the given number of seats.
func New(p Policy, seats int, a *budget.Ledger) *Lobby {
	return &Lobby{policy: p, accounts: a, Open: p != (Policy{}), words: make([]word, seats)}
}

// Close ends the lobby.
func (l *Lobby) Close() { l.Open = false }

// Say records that a player is ready, or no longer. It returns false if the player has taken it back too often and stays ready.
func (l *Lobby) Say(p budget.Purse, seat lockstep.Player, ready bool) bool {
	w := &l.words[seat]
	if !l.Open {
		return true
	}
	if w.says && !ready && !p.Take(budget.Ready, 1) {
		return false
	}
	w.says = ready
	return true
}

// Unwritten reports whether the log still lacks what a player said last.
func (l *Lobby) Unwritten(seat lockstep.Player) (ready, unwritten bool) {
	w := l.words[seat]
	return w.says, l.Open && w.says != w.written
}

// Written records that the log has what a player said last.
func (l *Lobby) Written(seat lockstep.Player) { l.words[seat].written = l.words[seat].says }

// Ready reports whether a player is ready, according to the log.
func (l *Lobby) Ready(seat lockstep.Player) bool { return l.Open && l.words[seat].written }

// Leave resets the readiness of a seat.
func (l *Lobby) Leave(seat lockstep.Player) { l.words[seat] = word{} }

// Awaits reports whether an open lobby waits for the player of a seat.
func (l *Lobby) Awaits(seat lockstep.Player, s Seat) bool {
	return l.Open && (s.Away || s.Here && !l.words[seat].written)
}

// gathered returns the number of ready players, of present players, and of seats without a bot.
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

// outOfPatience reports whether the lobby has waited long enough for the player of a seat.
func (l *Lobby) outOfPatience(s Seat) bool {
	d := l.policy.Deadline
	return d > 0 && s.Account != 0 && l.accounts.Awaited(s.Account) >= d/patienceShare
}

// count charges the time since the last call to the awaited accounts. It returns when the patience with one of them ends.
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

// Hold stops the clock when the server begins to hold the match, and restarts it when the hold ends, so that no player is charged
// for the server's time. held says whether the match was held until now. The result is the latest time for the next call of Time.
func (l *Lobby) Hold(now lockstep.Time, held bool, seats []Seat) (wake lockstep.Time) {
	switch {
	case !l.Open:
	case held:
		l.at = now
	default:
		return l.count(now, seats)
	}
	return never
}

// Forgive excludes a stall of the server from the clock.
func (l *Lobby) Forgive(now, late lockstep.Time) { l.at = min(l.at+late, now) }

// Time reports whether the lobby ends now, and the latest time for the next call.
func (l *Lobby) Time(now lockstep.Time, seats []Seat) (over bool, wake lockstep.Time) {
	wake = l.count(now, seats)
	w := l.Wait(now, seats)
	return w.Reason == protocol.LobbyBegins && now >= w.Until, wake
}

// A Wait is the reason why a lobby is still open.
type Wait struct {
	Reason  string            // protocol.LobbyPlayers, LobbyReady or LobbyBegins
	Players []lockstep.Player // of LobbyReady
	Until   lockstep.Time     // of LobbyBegins: when the countdown ends
}

// Wait returns why the lobby is still open. It starts and resets the countdown.
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

// awaited returns what prevents the countdown, or the zero Wait.
func (l *Lobby) awaited(seats []Seat) Wait {
	ready, here, people := l.gathered(seats)
	came, unready := here, []lockstep.Player(nil)
	for i, s := range seats {
		switch {
		case s.Bot:
		case l.outOfPatience(s):
			if !s.Here {
				came++ // counts as present
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
