// Package pace decides when a match seals its next tick: at which speed it runs, whether it waits, for whom, and who pays for
// that. It also decides the input delay. It is one of the machines of lockstep/host.
//
// A [Pace] knows players by their seats. It sees of each what a [Seat] says at that moment, and the account that pays for it
// ([Pace.Bill]). It knows no connection and writes no record: the host carries out what it returns.
//
// # The clock
//
// After [Pace.Start] the n-th tick is due at start + n·100·period/percent ([Pace.Due]), in exact arithmetic, so that no error adds
// up. [Pace.Tick] counts each, also one that a pause leaves out. After a stall the host calls [Pace.Skip], which makes the next
// tick due a period from now: the match stays late instead of hurrying. [Pace.Forgive] moves the other times on.
//
// # Waiting
//
//	runs ──Await──► waits ──Await──► runs
//
// Before a tick that is due the host asks [Pace.Await]. The match waits while
//
//   - the server holds it ([Pace.Hold]), such as for a full disk;
//   - it gathers its players in a lobby, which the host knows. [Pace.Begin] ends that at once;
//   - a [WaitPolicy] waits for a player who is away, or behind by Lead ticks: for at most Bound in a minute, and as long as the
//     player's account pays.
//
// Await does not look at pauses, because the coordinator of a paused match seals no tick. The first tick after a wait is due a quarter
// of a period later.
//
// # Measuring
//
// At the time of [Pace.Next] the host calls
//
//   - [Pace.Slow], every second with a [SlowPolicy]. Two measurements of more than Lead ticks behind make a player demand 10 %
//     less speed; five of at most half of that take 10 % back. The returned speed is in force once [Pace.Slowed] says that it is
//     in the log; otherwise the next measurement tries again. It is a part of the speed that an admin sets with [Pace.SetSpeed];
//   - [Pace.Delay], at each measurement of the round trips with a [DelayPolicy]. The delay follows the need of the slowest player.
//
// # Who pays
//
// A second of waiting costs a second, a second at 90 % of the speed a tenth of one, and so does a second with 100 ms more input delay
// than more than half of the accounts need. All players lose this time together, so the match loses the largest of what the
// accounts are granted ([budget.Ledger.Grant]), within what all players together are granted ([budget.Ledger.GrantAll]). The match neither waits for
// nor follows the players of an account that cannot pay. A player who is alone pays nothing.
//
// [Pace.Costs] returns the players of whom the host tells everybody that they cost time: once it is a second, the same text at most
// once in a minute, another text after ten seconds. That an account cannot pay any more is told at once.
//
// # Telling
//
// After each change the host calls [Pace.Tell] with what else stops the match. The reasons, the first that holds: the match is over
// (none), the server holds it, it is paused, it gathers, it waits for slow players, it is slower for players. If the [Wait] that the
// peers know has changed, [Pace.Version] rises, and the host sends [Pace.Told] to each peer with another version. Waits for slow players
// are told after half a second, and change as rarely, so that short ones do not flicker.
//
//samestep:deterministic
package pace

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Never is a time later than all others.
const Never lockstep.Time = 1<<63 - 1

// A DelayPolicy makes the input delay follow the slowest connection of a player: half its round trip and twice its
// jitter, in ticks. The delay rises after two measurements (see Options.PingEvery) and falls after five. A player pays
// from Rates.Pace for the delay beyond what more than half of the players need.
type DelayPolicy struct {
	Min, Max lockstep.Tick // Max 0 fixes the delay
}

// A WaitPolicy makes the match wait for players, as in classic lockstep, within Rates.Pace.
type WaitPolicy struct {
	// Bound is the time that the match waits for one player in a minute; 0 disables waiting. Rates.Pace limits it
	// further.
	Bound lockstep.Time

	// Lead is how many ticks the match may be ahead of what a player has simulated; 0 means two times AckEvery.
	Lead lockstep.Tick
}

// A SlowPolicy slows the match down for a player whose machine cannot keep up, within Rates.Pace.
type SlowPolicy struct {
	// Percent is the slowest speed, in percent of the set speed; 0 disables slowing.
	Percent uint16

	// Lead is how many ticks a player may be behind; 0 means four times AckEvery.
	Lead lockstep.Tick
}

// Policies are those of a match.
type Policies struct {
	Wait  WaitPolicy
	Slow  SlowPolicy
	Delay DelayPolicy
	Every lockstep.Time // the time between two measurements of the round trips
}

// A Seat is what a Pace sees of a seat.
type Seat struct {
	Here bool          // its player is connected
	Away bool          // its player is lost and may come back
	Live bool          // its connection is in the present
	Lag  lockstep.Tick // ticks that it is behind, if Live

	Measured bool          // Late is known
	Late     lockstep.Time // how long after the host's present the player's commands come
}

// A Cost says that a player costs the match time.
type Cost struct {
	Player lockstep.Player
	Text   string
	Used   lockstep.Time // of the player's account
}

// A Wait says why a match stands still or runs slower. All peers are told.
type Wait struct {
	Reason  string            // "" if the match runs
	Players []lockstep.Player // whom it waits for, ascending; nil if it is for nobody
	Since   lockstep.Time
	Until   lockstep.Time // when it ends at the latest; 0 if nobody knows
}

// A Situation is what stops a match besides its Pace.
type Situation struct {
	Over   bool
	Paused bool
	Lobby  Wait // what an open lobby waits for
}

// A Pace is the speed and the input delay of a match under its policies, and what it waits for.
type Pace struct {
	policies Policies
	payers   *budget.Ledger
	clock    clock
	base     uint16 // percent, as set
	percent  uint16 // of base, by the slow policy
	wanted   uint16 // percent, by the latest measurement

	Waiting   bool          // the match waits for players
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
	Told    Wait
	toldAt  lockstep.Time
	Version uint64 // of told
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

// A demand is how much a player asks for. It follows the player's measured need.
type demand struct {
	level    uint16
	up, down int // consecutive measurements of a higher or lower need
}

// count counts consecutive measurements with a reason.
func count(n *int, reason bool) {
	if reason {
		*n++
	} else {
		*n = 0
	}
}

// follow counts a measurement that needs more or less than the level. It returns 1 or -1 when the level should rise or
// fall, else 0.
func (c *demand) follow(more, less bool) int {
	count(&c.up, more)
	count(&c.down, less)
	switch {
	case c.up >= 2:
		c.up = 0
		return 1
	case c.down >= 5:
		c.down = 0
		return -1
	}
	return 0
}

// New returns the Pace of a match with settings s.
func New(s lockstep.Settings, p Policies, payers *budget.Ledger) *Pace {
	return &Pace{
		policies: p, payers: payers, clock: newClock(s.Micros(1)), base: 100, percent: 100,
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
func (p *Pace) Due() lockstep.Time { return p.clock.due }

// Period returns the time of a tick at the present speed.
func (p *Pace) Period() lockstep.Time { return p.clock.period }

// Tick counts a sealed tick.
func (p *Pace) Tick() { p.clock.move(p.clock.start, p.clock.n+1) }

// Skip leaves out the ticks that are due by now, and returns how many. A match that waits leaves out none: the next tick
// is due a quarter of a period after now.
func (p *Pace) Skip(now lockstep.Time) (late int64) {
	if p.Waiting {
		p.clock.move(now-p.clock.period+p.clock.period/4, 0)
		return 0
	}
	late = int64((now-p.clock.due)/p.clock.period) + 1
	p.clock.restart(now)
	return late
}

// Forgive adds the time of a stall to the timers: nobody pays for it.
func (p *Pace) Forgive(now, late lockstep.Time) { p.waitingAt = min(p.waitingAt+late, now) }

// Await reports whether the next tick may be sealed. gathers says that the match is in its lobby, and begun that it has a tick. Only a
// WaitPolicy looks at the seats.
func (p *Pace) Await(now lockstep.Time, gathers, begun bool, seats []Seat) bool {
	var dt lockstep.Time
	if p.Waiting {
		dt = now - p.waitingAt
	}
	p.waitingAt = now
	p.Waiting = p.held.Reason != "" || gathers || begun && p.policies.Wait.Bound > 0 && p.waitsForSlow(now, dt, seats)
	return !p.Waiting
}

// Begin ends the wait for players in a lobby.
func (p *Pace) Begin() { p.Waiting = p.held.Reason != "" }

// waitsForSlow reports whether the match waits for players. It has waited for another dt.
func (p *Pace) waitsForSlow(now, dt lockstep.Time, seats []Seat) bool {
	p.slow, p.until = p.slow[:0], now
	bound, there := p.policies.Wait.Bound, players(seats)
	for i := range seats {
		s := &p.seats[i]
		if x := &seats[i]; x.Live && x.Lag < p.policies.Wait.Lead || !x.Live && !x.Away {
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

// A clock says when ticks are due: the n-th after start at start + n·100·each/percent.
type clock struct {
	running bool
	start   lockstep.Time
	n       int64 // ticks since start
	each    int64 // microseconds of a tick at 100 percent
	percent int64

	due    lockstep.Time // of the next tick
	period lockstep.Time
}

func newClock(each int64) clock {
	c := clock{each: each, percent: 100, period: lockstep.Time(each)}
	c.move(0, 0)
	return c
}

// move makes the n-th tick after start the last one.
func (c *clock) move(start lockstep.Time, n int64) {
	c.start, c.n = start, n
	c.due = start + lockstep.Time((n+1)*100*c.each/c.percent)
}

// restart makes the next tick due one period after now.
func (c *clock) restart(now lockstep.Time) {
	c.running = true
	c.move(now, 0)
}

// set changes the speed from the tick after the next one on.
func (c *clock) set(percent int64) {
	if percent != c.percent {
		last := c.start + lockstep.Time(c.n*100*c.each/c.percent)
		c.percent, c.period = percent, lockstep.Time(100*c.each/percent)
		c.move(last, 0)
	}
}
