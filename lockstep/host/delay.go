package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// followDelay makes the input delay follow the slowest player's connection.
func (h *Host) followDelay() {
	known := false
	for i := range h.seats {
		s := &h.seats[i]
		need := uint16(0)
		if s.peer != nil && s.peer.rtt > 0 {
			known, need = true, h.delayNeed(s.peer)
		}
		c := &s.pace.delayed
		switch c.follow(need > c.level, need < c.level) {
		case 1:
			c.level = need
		case -1:
			c.level--
		}
		known = known || c.level > 0
	}
	if !known {
		return
	}
	usual := max(h.usualDelay(), uint16(h.options.Delay.Min), 1)
	for i := range h.seats {
		s := &h.seats[i]
		s.pace.asks = h.delayCost(s.pace.delayed.level - min(s.pace.delayed.level, usual))
	}
	want := usual
	for lost := h.lose(h.options.PingEvery, paceDelayed); want < uint16(h.options.Delay.Max) && h.delayCost(want+1-usual) <= lost; {
		want++
	}
	if lockstep.Tick(want) == h.c.InputDelay() {
		return
	}
	if _, err := h.c.SetInputDelay(lockstep.Tick(want)); err == nil {
		h.event(Event{Kind: DelayChanged, Player: lockstep.System, Number: int64(want)})
	}
}

// delayNeed returns the ticks of input delay that a player's connection needs. Where packets are lost, commands come sooner by
// datagrams than by the stream.
func (h *Host) delayNeed(p *peer) uint16 {
	late := p.rtt/2 + 2*p.jitter
	if g := p.datagrams; g != nil && g.Flows(h.now, p.rtt) {
		late = min(late, g.Lateness())
	}
	period := h.clock.period()
	need := (min(late, record.MaxInputDelay*period) + period - 1) / period
	return uint16(min(lockstep.Tick(need), h.options.Delay.Max))
}

// delayCost returns the cost of ticks of input delay until the next measurement.
func (h *Host) delayCost(ticks uint16) lockstep.Time {
	return lockstep.Time(ticks) * h.clock.period() * h.options.PingEvery / lockstep.Second
}

// usualDelay returns the largest input delay that more than half of the accounts need at least, in ticks. An account
// needs the least of its seats' needs, so that guests of one address are no majority.
func (h *Host) usualDelay() uint16 {
	for i := range h.seats {
		h.pace.payers[i].need = record.MaxInputDelay + 1
	}
	for i := range h.seats {
		if s := &h.seats[i]; s.want == here {
			p := h.payer(s)
			p.need = min(p.need, s.pace.delayed.level)
		}
	}
	h.pace.needs = h.pace.needs[:0]
	for i := range h.seats {
		if p := &h.pace.payers[i]; p.need <= record.MaxInputDelay {
			h.pace.needs = append(h.pace.needs, p.need)
		}
	}
	if len(h.pace.needs) == 0 {
		return 0
	}
	slices.Sort(h.pace.needs)
	return h.pace.needs[(len(h.pace.needs)-1)/2]
}
