package pace

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// tellAfter is how long a wait lasts before the peers are told, and the least time between two changes of it, unless the
// server, a player or the lobby decides.
const tellAfter = lockstep.Second / 2

// Hold stops the sealing of ticks for a reason of the server until it is called again, without a reason. It returns false if
// nothing changes.
func (p *Pace) Hold(now lockstep.Time, w Wait) bool {
	if h := &p.held; w.Reason == h.Reason && w.Until == h.Until && slices.Equal(w.Players, h.Players) {
		return false
	}
	if w.Reason != p.held.Reason {
		p.Waiting, p.waitingAt = w.Reason != "", now // a WaitPolicy charges no player for the time of a hold
	}
	w.Players = slices.Clone(w.Players)
	p.held = w
	return true
}

// Held returns the reason of Hold, or "".
func (p *Pace) Held() string { return p.held.Reason }

// Pause notes which player has paused the match.
func (p *Pace) Pause(player lockstep.Player) { p.pauser = []lockstep.Player{player} }

// wait returns why the match stands still or runs slower now.
func (p *Pace) wait(s *Situation) Wait {
	switch {
	case s.Over:
		return Wait{}
	case p.held.Reason != "":
		return p.held
	case s.Paused:
		return Wait{Reason: protocol.HeldPaused, Players: p.pauser}
	case s.Lobby.Reason != "":
		return s.Lobby
	case p.Waiting:
		return Wait{Reason: protocol.HeldForSlow, Players: p.slow, Until: p.until}
	case p.percent < 100:
		return Wait{Reason: protocol.HeldSlower, Players: p.slowed()}
	}
	return Wait{}
}

// slowed returns the players for whom the match is slower.
func (p *Pace) slowed() (players []lockstep.Player) {
	for i := range p.seats {
		if p.seats[i].slowed.level > 0 {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// Tell finds out what the match waits for, and reports whether the peers are told another Wait than before. It is due again at a later
// time, or Never.
func (p *Pace) Tell(now lockstep.Time, s Situation) (changed bool, again lockstep.Time) {
	w := p.wait(&s)
	if w.Reason == "" && p.present.Reason == "" && p.Told.Reason == "" {
		return false, Never // as nearly always
	}
	w.Since = p.present.Since
	if w.Reason != p.present.Reason {
		w.Since = now
	}
	p.present = w
	if w.Reason == p.Told.Reason && sameEnd(w.Until, p.Told.Until) && slices.Equal(w.Players, p.Told.Players) {
		return false, Never
	}
	if w.Reason == protocol.HeldForSlow || w.Reason == protocol.HeldSlower {
		at := w.Since + tellAfter
		if p.Told.Reason == w.Reason {
			at = p.toldAt + tellAfter
		}
		if now < at {
			return false, at
		}
	}
	w.Players = slices.Clone(w.Players)
	p.Told, p.toldAt = w, now
	p.Version++
	return true, Never
}

// sameEnd reports whether two ends of a wait are the same for people.
func sameEnd(a, b lockstep.Time) bool { return (a == 0) == (b == 0) && max(a-b, b-a) < lockstep.Second }
