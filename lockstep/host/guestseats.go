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

// makeRoom frees a seat for a newcomer at an address: that of the guest who has been idle for longest, of another address whose guests
// have more than their part of the seats. It is one who has never given a command, or is not ready in a lobby. It reports false if
// there is none. A guest who has played keeps its seat until InactivePolicy.Guests.
func (h *Host) makeRoom(from string) (found lockstep.Player, ok bool) {
	for _, p := range h.seats.crowded(from, h.seats.mostGuests(h.options.GuestSeats)) {
		s := &h.seats[p]
		idle := !s.played && (s.want == takenOver || h.idle.Ticks(p) >= lockstep.Tick(h.header.Settings.TicksIn(int64(newGuest))))
		if h.lobby.Open() {
			idle = !h.lobby.Ready(p) && h.now-s.since >= newGuest
		}
		if idle && (!ok || h.idle.Ticks(p) >= h.idle.Ticks(found)) {
			found, ok = p, true
		}
	}
	if ok {
		h.Admin().giveUp(found, protocol.CloseInactive, makesRoom)
	}
	return found, ok
}
