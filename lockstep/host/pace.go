package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	gathers := h.pace.Held() == "" && h.lobby.Open()
	if gathers {
		over, wake := h.lobby.Time(h.now, h.seats.lobby())
		h.wakeAt(wake)
		if gathers = !over; over {
			h.leaveLobby()
		}
	}
	var seats []pace.Seat
	if h.options.Wait.Bound > 0 {
		seats = h.paceSeats()
	}
	ready := h.pace.Await(h.now, gathers, h.c.Now() > 0, seats)
	h.tellCosts()
	return ready
}

// paceSeats returns what the pace sees of the seats now.
func (h *Host) paceSeats() []pace.Seat {
	h.seen = h.seen[:0]
	for i := range h.seats {
		s := &h.seats[i]
		x := pace.Seat{Here: s.want == here, Away: s.want == away}
		if p := s.peer; p != nil {
			x.Measured, x.Late = p.link.RTT() > 0, p.late(h.now)
			if x.Live = p.state == Live; x.Live {
				x.Lag = p.stream.Lag(h.log.present(p.reader()))
			}
		}
		h.seen = append(h.seen, x)
	}
	return h.seen
}

// late returns how late a player's commands come. Where packets are lost, they come sooner by datagrams than by the stream.
func (p *peer) late(now lockstep.Time) lockstep.Time {
	late := p.link.RTT()/2 + 2*p.link.Jitter()
	if g := p.datagrams; g != nil && g.Flows(now, p.link.RTT()) {
		late = min(late, g.Lateness())
	}
	return late
}

// bill makes an account pay for the match time that a seat's player costs.
func (h *Host) bill(p lockstep.Player, a budget.ID) {
	s := &h.seats[p]
	if s.account == a {
		return
	}
	h.budget.Bill(s.account, a)
	s.account = a
	h.votes.Drop(p) // the old one is another player's
	h.pace.Bill(p, a)
}

// tellCosts tells all peers who costs the match time.
func (h *Host) tellCosts() {
	for _, c := range h.pace.Costs() {
		h.event(Event{Kind: TimeLost, Player: c.Player, Number: int64(c.Used) / 1000, Text: c.Text})
		h.announce(c.Player, record.EventPace, c.Text)
	}
}

// paceTime applies the policies at their times.
func (h *Host) paceTime() {
	if h.now >= h.pace.Next() {
		percent, changed := h.pace.Slow(h.now, h.paceSeats())
		h.tellCosts()
		if changed && h.logSpeed(percent) == nil {
			h.pace.Slowed(percent)
		}
		delay := h.pace.Delay(h.now, h.c.InputDelay(), h.paceSeats())
		h.tellCosts()
		if delay != h.c.InputDelay() {
			_ = h.Admin().SetInputDelay(h.now, delay) // the tick is full; the next measurement tries again
		}
	}
	h.wakeAt(h.pace.Next())
}

// logSpeed logs a speed.
func (h *Host) logSpeed(percent uint16) error {
	_, err := h.c.SetSpeed(percent)
	if err == nil {
		h.event(Event{Kind: SpeedChanged, Player: lockstep.System, Number: int64(percent)})
	}
	return err
}
