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
		h.wake.at(wake)
		if gathers = !over; over {
			_ = h.Admin().Start(h.now) // the lobby is open
		}
	}
	var seats []pace.Seat
	if h.options.Wait.Bound > 0 {
		seats = h.seats.pace(h.seen[:0], h.now, &h.log)
	}
	ready := h.pace.Await(h.now, gathers, h.c.Now() > 0, seats)
	h.tellCosts()
	return ready
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
		h.made.event(h.log.now(), Event{Kind: TimeLost, Player: c.Player, Number: int64(c.Used) / 1000, Text: c.Text})
		h.log.announce(c.Player, record.EventPace, c.Text)
	}
}

// paceTime applies the policies at their times.
func (h *Host) paceTime() {
	if h.now >= h.pace.Next() {
		percent, changed := h.pace.Slow(h.now, h.seats.pace(h.seen[:0], h.now, &h.log))
		h.tellCosts()
		if changed && h.Admin().logSpeed(percent) == nil {
			h.pace.Slowed(percent)
		}
		delay := h.pace.Delay(h.now, h.c.InputDelay(), h.seats.pace(h.seen[:0], h.now, &h.log))
		h.tellCosts()
		if delay != h.c.InputDelay() {
			_ = h.Admin().SetInputDelay(h.now, delay) // the tick is full; the next measurement tries again
		}
	}
	h.wake.at(h.pace.Next())
}
