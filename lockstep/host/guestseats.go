package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// newGuest is for how long a guest who has given no command, or is not ready in a lobby, need not make room.
const newGuest = 30 * lockstep.Second

// leastGuestSeats is the least number of seats that the guests of one address keep unless the options say otherwise: a duel at home.
const leastGuestSeats = 2

// makesRoom is the reason why a guest has lost its seat to somebody of another address.
const makesRoom = "others want to play, and the guests of your address have more than their part of the seats"

// mostGuestSeats returns how many seats the guests of one address may keep when others want one.
func (h *Host) mostGuestSeats() int {
	switch n := h.options.GuestSeats; {
	case n > 0:
		return n
	case n < 0:
		return len(h.seats)
	}
	people := 0
	for _, bot := range h.bots {
		if bot == nil {
			people++
		}
	}
	return max(leastGuestSeats, people/2)
}

// makeRoom frees a seat for a newcomer at an address: that of the guest who has been idle for longest, of another address whose guests
// have more than their part of the seats. It is one who has never given a command, or is not ready in a lobby. It reports false if
// there is none. A guest who has played keeps its seat until InactivePolicy.Guests.
func (h *Host) makeRoom(from string) (lockstep.Player, bool) {
	counts := make(map[string]int) // only looked up, never ranged over
	for i := range h.seats {
		if s := &h.seats[i]; s.guest && s.want != vacant {
			counts[s.from]++
		}
	}
	most, found := h.mostGuestSeats(), -1
	for i := range h.seats {
		s := &h.seats[i]
		if !s.guest || s.want == vacant || s.from == from || counts[s.from] <= most || s.reserved != "" {
			continue
		}
		if p := lockstep.Player(i); h.hasNotPlayed(p) && (found < 0 || h.idle.Ticks(p) >= h.idle.Ticks(lockstep.Player(found))) {
			found = i
		}
	}
	if found < 0 {
		return 0, false
	}
	h.giveUp(lockstep.Player(found), protocol.CloseInactive, makesRoom)
	return lockstep.Player(found), true
}

// hasNotPlayed reports whether the player of a seat has had the time to play, and has not.
func (h *Host) hasNotPlayed(p lockstep.Player) bool {
	s := &h.seats[p]
	if h.lobby.Open() {
		return !h.lobby.Ready(p) && h.now-s.since >= newGuest
	}
	return !s.played && (s.want == takenOver || h.idle.Ticks(p) >= lockstep.Tick(h.header.Settings.TicksIn(int64(newGuest))))
}
