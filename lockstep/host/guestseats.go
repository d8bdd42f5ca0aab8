package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// idleGuest is for how long a guest has given no command before it may have to make room.
const idleGuest = 10 * lockstep.Second

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
	_, _, people := h.gathered()
	return max(1, people/2)
}

// makeRoom frees a seat for a newcomer at an address: that of the guest who has been idle for longest, of another address whose guests
// have more than their part of the seats. In a lobby it is one who is not ready. It reports false if there is none.
func (h *Host) makeRoom(from string) (lockstep.Player, bool) {
	counts := make(map[string]int) // only looked up, never ranged over
	for i := range h.seats {
		if s := &h.seats[i]; s.guest && s.want != vacant {
			counts[s.from]++
		}
	}
	most, least := h.mostGuestSeats(), lockstep.Tick(h.header.Settings.TicksIn(int64(idleGuest)))
	found := -1
	for i := range h.seats {
		s := &h.seats[i]
		if !s.guest || s.want == vacant || s.from == from || counts[s.from] <= most || s.reserved != "" {
			continue
		}
		idle := s.idle >= least
		if h.lobby.open {
			idle = !s.ready
		}
		if idle && (found < 0 || s.idle >= h.seats[found].idle) {
			found = i
		}
	}
	if found < 0 {
		return 0, false
	}
	h.giveUp(lockstep.Player(found), protocol.CloseInactive, makesRoom)
	return lockstep.Player(found), true
}
