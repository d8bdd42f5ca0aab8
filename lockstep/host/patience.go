package host

import "github.com/seed-49bee653/samestep/lockstep"

// patienceShare is the part of [StartPolicy.Deadline] for which a lobby waits for one player: a fifth.
const patienceShare = 5

// A patience is how long a lobby has waited for players whom at least half of those who are there did not want to await any longer.
type patience struct {
	full   bool          // as many players as the policy wants have been there at once
	waited lockstep.Time // since then, for anybody
	at     lockstep.Time // up to which the times are counted
}

// countPatience charges the time since the last call to those for whom the lobby waits. It counts while at least half of those who are
// there are ready.
func (h *Host) countPatience() {
	x, deadline := &h.lobby.patience, h.options.Start.Deadline
	if x.at == 0 {
		x.at = h.now
	}
	dt := h.now - x.at
	x.at = h.now
	ready, came, _ := h.gathered()
	if deadline <= 0 || ready == 0 || 2*ready < came {
		return
	}
	if x.full {
		x.waited += dt
		h.wakeAt(h.now + max(deadline-x.waited, 0) + 1)
	}
	for i := range h.seats {
		s := &h.seats[i]
		if s.account == 0 || !h.isAwaited(s) {
			continue
		}
		if waited := h.budget.Await(h.now, s.account, dt); waited < deadline/patienceShare {
			h.wakeAt(h.now + deadline/patienceShare - waited + 1)
		}
	}
}

// holdPatience ends the count at the begin of a [Host.Hold], and goes on at its end: no player is charged for the server's time.
func (h *Host) holdPatience(held bool) {
	switch {
	case !h.lobby.open:
	case held:
		h.lobby.patience.at = h.now
	default:
		h.countPatience()
	}
}

// isAwaited reports whether a lobby with a policy of Ready waits for the player of a seat.
func (h *Host) isAwaited(s *hostSeat) bool { return s.want == away || s.want == here && !s.ready }

// outOfPatience reports whether the lobby no longer waits for the player of a seat.
func (h *Host) outOfPatience(s *hostSeat) bool {
	deadline := h.options.Start.Deadline
	return deadline > 0 && s.account != 0 && h.budget.Awaited(s.account) >= deadline/patienceShare
}

// isLate reports whether the lobby has waited long enough for everybody.
func (h *Host) isLate() bool {
	deadline := h.options.Start.Deadline
	ready, came, _ := h.gathered()
	return deadline > 0 && h.lobby.patience.waited >= deadline && ready > 0 && 2*ready >= came
}

// gathered returns how many people are ready and how many are there, and how many seats are for people.
func (h *Host) gathered() (ready, came, people int) {
	for i := range h.seats {
		s := &h.seats[i]
		if h.isBot(lockstep.Player(i)) {
			continue
		}
		people++
		if s.want != here {
			continue
		}
		if came++; s.ready {
			ready++
		}
	}
	return ready, came, people
}
