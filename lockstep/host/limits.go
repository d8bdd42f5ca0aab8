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
func (a Admin) SetLimits(now lockstep.Time, l Limits) error {
	a.h.now = max(a.h.now, now)
	o := a.h.options
	l.SetIn(&o)
	if err := o.complete(&a.h.header.Settings); err != nil {
		return err
	}
	a.h.options = o
	a.h.idle.SetGuests(o.Inactive.Guests)
	for i := len(a.h.peers.all) - 1; i >= 0 && a.h.peers.spectators() > o.MaxSpectators; i-- {
		if p := a.h.peers.all[i]; p.seat == lockstep.System && p.state != Connecting && p.state != Closed {
			a.h.close(p, protocol.CloseBusy, noPlace)
		}
	}
	a.h.budget.Resize(a.h.now, len(a.h.seats)+o.MaxSpectators)
	a.h.peers.closing = len(a.h.peers.all)
	for i := range a.h.seats {
		if s := &a.h.seats[i]; s.peer != nil && s.guest {
			a.h.idle.Ease(lockstep.Player(i))
		}
	}
	return nil
}
