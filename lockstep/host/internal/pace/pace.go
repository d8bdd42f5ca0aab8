package pace

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Pace is the speed and the input delay of a match under its policies, and what it waits for.
type Pace struct {
	policies Policies
	payers   Payers
	clock    clock
	base     uint16 // percent, as set
	percent  uint16 // of base, by the slow policy
	wanted   uint16 // percent, by the latest measurement

	waiting   bool          // the match waits for players
	waitingAt lockstep.Time // when waiting was last determined

	speedAt, delayAt lockstep.Time // of the next measurement

	seats  []seat
	shares []share // scratch, by the first seat for which an account pays
	needs  []uint16
	costs  []Cost // since the last call of Costs

	held   Wait              // by the server
	pauser []lockstep.Player // who has paused the match, if that is known
	slow   []lockstep.Player // whom a WaitPolicy waits for
	until  lockstep.Time     // how long it waits for them, at most

	present Wait
	told    Wait
	toldAt  lockstep.Time
	version uint64 // of told
}

// A seat is the match time that a player asks for, and its cost.
type seat struct {
	account budget.ID
	slowed  demand        // percent of the speed
	delayed demand        // ticks of input delay
	asks    lockstep.Time // see lose
	cost    lockstep.Time // since the last Cost
	told    string        // the last Cost
	toldAt  lockstep.Time
}

// A share is the match time that an account costs in the present measurement.
type share struct {
	asks, granted, used lockstep.Time
	spent               bool
	need                uint16
}

// New returns the Pace of a match with settings s.
func New(s lockstep.Settings, p Policies, payers Payers) *Pace {
	return &Pace{
		policies: p, payers: payers, clock: clock{each: s.Micros(1), percent: 100}, base: 100, percent: 100,
		seats: make([]seat, s.Players), shares: make([]share, s.Players),
	}
}

// Start starts the clock, once: the first tick is due one period later.
func (p *Pace) Start(now lockstep.Time) {
	if !p.clock.running {
		p.clock.restart(now)
	}
}

// Running reports whether the clock was started.
func (p *Pace) Running() bool { return p.clock.running }

// Due returns when the next tick is due.
func (p *Pace) Due() lockstep.Time { return p.clock.due() }

// Period returns the time of a tick at the present speed.
func (p *Pace) Period() lockstep.Time { return p.clock.period() }

// Tick counts a sealed tick.
func (p *Pace) Tick() { p.clock.n++ }

// Skip leaves out the ticks that are due by now, and returns how many. A match that waits leaves out none: the next tick is due soon.
func (p *Pace) Skip(now lockstep.Time) (late int64) {
	if p.waiting {
		p.clock.hold(now)
		return 0
	}
	late = int64((now-p.clock.due())/p.clock.period()) + 1
	p.clock.restart(now)
	return late
}

// Forgive adds the time of a stall to the timers: nobody pays for it.
func (p *Pace) Forgive(now, late lockstep.Time) { p.waitingAt = min(p.waitingAt+late, now) }

// Await reports whether the next tick may be sealed. gathers says that the match is in its lobby, and begun that it has a tick. Only a
// WaitPolicy looks at the seats.
func (p *Pace) Await(now lockstep.Time, gathers, begun bool, seats []Seat) bool {
	var dt lockstep.Time
	if p.waiting {
		dt = now - p.waitingAt
	}
	p.waitingAt = now
	p.waiting = p.held.Reason != "" || gathers || begun && p.policies.Wait.Bound > 0 && p.waitsForSlow(now, dt, seats)
	return !p.waiting
}

// Waiting reports whether the match waits, but for a pause.
func (p *Pace) Waiting() bool { return p.waiting }

// Begin ends the wait for players in a lobby.
func (p *Pace) Begin() { p.waiting = p.held.Reason != "" }

// waitsForSlow reports whether the match waits for players. It has waited for another dt.
func (p *Pace) waitsForSlow(now, dt lockstep.Time, seats []Seat) bool {
	p.slow, p.until = p.slow[:0], now
	bound, there := p.policies.Wait.Bound, players(seats)
	for i := range seats {
		s := &p.seats[i]
		if !p.behind(&seats[i]) {
			continue
		}
		waited, patience := p.payers.Wait(now, s.account, dt)
		if isAlone(there, &seats[i]) {
			patience = bound
		}
		if waited < bound {
			s.asks = max(dt, 1) // at least 1, so that a used-up account stays used up
			p.slow, p.until = append(p.slow, lockstep.Player(i)), max(p.until, now+min(bound-waited, patience))
		}
	}
	return p.lose(now, 0, seats, costsWait) > 0
}

// behind reports whether a WaitPolicy makes the match wait for a seat's player.
func (p *Pace) behind(s *Seat) bool {
	if s.Live {
		return s.Lag >= p.policies.Wait.Lead
	}
	return s.Away
}

// Next returns when Slow or Delay is due.
func (p *Pace) Next() lockstep.Time {
	at := Never
	if p.policies.Slow.Percent > 0 {
		at = p.speedAt
	}
	if p.policies.Delay.Max > 0 {
		at = min(at, p.delayAt)
	}
	return at
}

// Speed returns the speed in percent.
func (p *Pace) Speed() uint16 { return uint16(p.clock.percent) }

// SetSpeed sets the speed in percent. The players' demands begin again.
func (p *Pace) SetSpeed(percent uint16) {
	p.base, p.percent = percent, 100
	p.clock.set(int64(percent))
	for i := range p.seats {
		p.seats[i].slowed = demand{}
	}
}

// Slow measures, if it is due, who cannot keep up. It returns the speed in percent that the match should have, and false if that is the
// present one.
func (p *Pace) Slow(now lockstep.Time, seats []Seat) (percent uint16, changed bool) {
	policy := p.policies.Slow
	if policy.Percent == 0 || now < p.speedAt {
		return 0, false
	}
	p.speedAt = now + lockstep.Second
	for i := range seats {
		s := &p.seats[i]
		var lag lockstep.Tick
		if seats[i].Live {
			lag = seats[i].Lag
		}
		switch s.slowed.follow(lag > policy.Lead, lag <= policy.Lead/2) {
		case 1:
			s.slowed.level = min(s.slowed.level+10, 100-policy.Percent)
		case -1:
			s.slowed.level -= min(s.slowed.level, 10)
		}
		s.asks = lockstep.Time(s.slowed.level) * lockstep.Second / 100
	}
	p.wanted = 100 - uint16(p.lose(now, lockstep.Second, seats, costsSpeed)*100/lockstep.Second)
	return max(uint16(uint32(p.base)*uint32(p.wanted)/100), record.MinSpeed), p.wanted != p.percent
}

// Slowed says that the speed that Slow has just returned is in the log. Without that, the next measurement tries again.
func (p *Pace) Slowed(percent uint16) {
	p.percent = p.wanted
	p.clock.set(int64(percent))
}
