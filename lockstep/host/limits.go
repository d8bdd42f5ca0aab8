package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Limits are the limits among the [Options] that can change while the match runs. The fields are those of Options, also their defaults.
type Limits struct {
	MaxSpectators  int
	GuestSeats     int
	InactiveGuests lockstep.Time // Inactive.Guests
}

// SetIn sets the limits in the options of a match that does not run yet.
func (l Limits) SetIn(o *Options) {
	o.MaxSpectators, o.GuestSeats, o.Inactive.Guests = l.MaxSpectators, l.GuestSeats, l.InactiveGuests
}

// SetLimits changes limits at once. Spectators beyond their number are closed, the latest first. A guest who has been idle for longer than
// a new limit is warned again. After an error nothing has changed.
func (h *Host) SetLimits(now lockstep.Time, l Limits) error {
	h.at(now)
	o := h.options
	l.SetIn(&o)
	if err := o.complete(&h.header.Settings); err != nil {
		return err
	}
	h.options = o
	h.idle.SetGuests(o.Inactive.Guests)
	for i := len(h.peers) - 1; i >= 0 && h.spectators() > o.MaxSpectators; i-- {
		if p := h.peers[i]; p.seat == lockstep.System && p.state != Connecting && p.state != Closed {
			h.close(p, protocol.CloseBusy, noPlace)
		}
	}
	h.budget.Resize(h.now, len(h.seats)+o.MaxSpectators)
	h.mostClosing = len(h.peers)
	for i := range h.seats {
		if s := &h.seats[i]; s.peer != nil && s.guest {
			h.idle.Ease(lockstep.Player(i))
		}
	}
	return nil
}
