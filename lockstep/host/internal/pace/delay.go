package pace

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Delay measures, if it is due, which input delay the players need. It returns the delay that the match should have, which is present
// where nothing is known.
func (p *Pace) Delay(now lockstep.Time, present lockstep.Tick, seats []Seat) lockstep.Tick {
	policy := p.policies.Delay
	if policy.Max == 0 || now < p.delayAt {
		return present
	}
	p.delayAt = now + p.policies.Every
	known := false
	for i := range seats {
		need := uint16(0)
		if seats[i].Measured {
			known, need = true, p.need(seats[i].Late)
		}
		c := &p.seats[i].delayed
		switch c.follow(need > c.level, need < c.level) {
		case 1:
			c.level = need
		case -1:
			c.level--
		}
		known = known || c.level > 0
	}
	if !known {
		return present
	}
	usual := max(p.usualDelay(seats), uint16(policy.Min), 1)
	for i := range p.seats {
		s := &p.seats[i]
		s.asks = p.delayCost(s.delayed.level - min(s.delayed.level, usual))
	}
	want := usual
	for lost := p.lose(now, p.policies.Every, seats, costsDelay); want < uint16(policy.Max) && p.delayCost(want+1-usual) <= lost; {
		want++
	}
	return lockstep.Tick(want)
}

// need returns the ticks of input delay that a player needs whose commands are late.
func (p *Pace) need(late lockstep.Time) uint16 {
	period := p.clock.period
	need := (min(late, record.MaxInputDelay*period) + period - 1) / period
	return uint16(min(lockstep.Tick(need), p.policies.Delay.Max))
}

// delayCost returns the cost of ticks of input delay until the next measurement.
func (p *Pace) delayCost(ticks uint16) lockstep.Time {
	return lockstep.Time(ticks) * p.clock.period * p.policies.Every / lockstep.Second
}

// usualDelay returns the largest input delay that more than half of the accounts need at least, in ticks. An account
// needs the least of its seats' needs, so that guests of one address are no majority.
func (p *Pace) usualDelay(seats []Seat) uint16 {
	const none = record.MaxInputDelay + 1
	for i := range p.shares {
		p.shares[i].need = none
	}
	for i := range seats {
		if a := p.shareOf(i); seats[i].Here {
			a.need = min(a.need, p.seats[i].delayed.level)
		}
	}
	p.needs = p.needs[:0]
	for _, a := range p.shares {
		if a.need < none {
			p.needs = append(p.needs, a.need)
		}
	}
	if len(p.needs) == 0 {
		return 0
	}
	slices.Sort(p.needs)
	return p.needs[(len(p.needs)-1)/2]
}
