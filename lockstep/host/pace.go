package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A pace is the match's speed and input delay under the policies.
type pace struct {
	base      uint16        // percent, as set
	percent   uint16        // of base, by the slow policy
	waiting   bool          // the match waits for players
	waitingAt lockstep.Time // when waiting was last determined

	speedAt, delayAt lockstep.Time // of the next measurement

	payers []payer  // scratch, by the first seat for which an account pays
	needs  []uint16 // scratch
}

// A seatPace is the match time that a player asks for, and its cost.
type seatPace struct {
	slowed  demand        // percent of the speed
	delayed demand        // ticks of input delay
	asks    lockstep.Time // see lose
	cost    lockstep.Time // since the last event
	told    string        // the last event
	toldAt  lockstep.Time
}

// A demand is how much a player asks for. It follows the player's measured need.
type demand struct {
	level    uint16
	up, down int // consecutive measurements of a higher or lower need
}

// A payer is the match time that an account costs in the current measurement.
type payer struct {
	asks, granted lockstep.Time
	need          uint16
}

// payer returns the payer of a seat.
func (h *Host) payer(s *hostSeat) *payer {
	i := 0
	for h.seats[i].account != s.account {
		i++
	}
	return &h.pace.payers[i]
}

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	var dt lockstep.Time
	if h.pace.waiting {
		dt = h.now - h.pace.waitingAt
	}
	h.pace.waitingAt = h.now
	if h.waits.server.Reason != "" {
		h.pace.waiting = true
		return false
	}
	if h.pace.waiting = h.gathers(); h.pace.waiting {
		return false
	}
	if h.options.Wait.Bound > 0 && h.c.Now() > 0 && h.waitsForSlow(dt) {
		h.pace.waiting = true
	}
	return !h.pace.waiting
}

// players returns the number of connected players.
func (h *Host) players() (n int) {
	for i := range h.seats {
		if h.seats[i].want == here {
			n++
		}
	}
	return n
}

// bill makes an account pay for the match time that a seat's player costs.
func (h *Host) bill(s *hostSeat, a budget.ID) {
	if s.account == a {
		return
	}
	h.budget.Bill(s.account, a)
	s.account, s.pace, s.voted = a, seatPace{}, false // the old ones are another player's
}

// lose charges the seats for the match time that they ask for, and returns the time that the match loses in an
// interval. All seats lose it at the same time, so it is the largest grant. Notes tell all peers which player costs
// time.
func (h *Host) lose(interval lockstep.Time, what string) (most lockstep.Time) {
	players, alone := h.players(), lockstep.Time(0)
	for i := range h.seats {
		s := &h.seats[i]
		if players == 0 || players == 1 && s.want == here {
			alone, s.pace.asks = max(alone, s.pace.asks), 0 // there is no other player
		}
		a := h.payer(s)
		a.asks = max(a.asks, s.pace.asks)
	}
	for i := range h.seats {
		s := &h.seats[i]
		a := h.payer(s)
		if a.asks > 0 { // the first seat of the account
			a.granted, a.asks = h.budget.Grant(h.now, s.account, a.asks, interval), 0
		}
		if s.pace.asks > 0 {
			granted := min(s.pace.asks, a.granted)
			s.pace.asks, s.pace.cost, most = 0, s.pace.cost+granted, max(most, granted)
			h.tellPace(lockstep.Player(i), what)
		}
	}
	if most > 0 {
		most = h.budget.GrantAll(h.now, most, interval)
	}
	return max(most, alone)
}

// Texts of [record.EventPace].
const (
	paceWaits   = "the match waits for this player"
	paceSlower  = "the match is slower for this player"
	paceDelayed = "commands take longer because of this player's connection"
	paceSpent   = "the match does not wait for this player for a while"
)

const (
	tellAgain  = minute               // between equal notes
	tellNext   = 10 * lockstep.Second // between different events
	worthANote = lockstep.Second      // the least cost since the last event
)

// tellPace tells all peers that a player costs the match time. It limits the number of events so that people can read
// them.
func (h *Host) tellPace(p lockstep.Player, text string) {
	c := &h.seats[p].pace
	used, spent := h.budget.Cost(h.seats[p].account)
	if spent {
		text = paceSpent
	}
	switch {
	case text == c.told:
		if c.cost < worthANote || h.now < c.toldAt+tellAgain {
			return
		}
	case text == paceSpent: // at once
	case c.cost < worthANote || c.told != "" && h.now < c.toldAt+tellNext:
		return
	}
	*c = seatPace{slowed: c.slowed, delayed: c.delayed, told: text, toldAt: h.now}
	h.event(Event{Kind: TimeLost, Player: p, Number: int64(used) / 1000, Text: text})
	h.announce(p, record.EventPace, text)
}

// waitsForSlow reports whether the match waits for players. It has waited for another dt.
func (h *Host) waitsForSlow(dt lockstep.Time) bool {
	x := &h.waits
	x.slow, x.until = x.slow[:0], h.now
	for i := range h.seats {
		s := &h.seats[i]
		if !h.behind(s) {
			continue
		}
		if waited := h.budget.Wait(h.now, s.account, dt); waited < h.options.Wait.Bound {
			s.pace.asks = max(dt, 1) // at least 1, so that a used-up account stays used up
			x.slow, x.until = append(x.slow, lockstep.Player(i)), max(x.until, h.now+min(h.options.Wait.Bound-waited, h.patience(s)))
		}
	}
	return h.lose(0, paceWaits) > 0
}

// patience returns how long the match can wait for a seat's player before Rates.Pace is used up.
func (h *Host) patience(s *hostSeat) lockstep.Time {
	if players := h.players(); players == 0 || players == 1 && s.want == here {
		return h.options.Wait.Bound // there is no other player, see lose
	}
	return h.budget.Patience(h.now, s.account)
}

// behind reports whether a WaitPolicy makes the match wait for a seat's player.
func (h *Host) behind(s *hostSeat) bool {
	if s.peer != nil && s.peer.state == Live {
		return h.lag(s.peer) >= h.options.Wait.Lead
	}
	return s.want == away
}

// paceTime applies the policies at their times.
func (h *Host) paceTime() {
	if h.options.Slow.Percent > 0 {
		if h.now >= h.pace.speedAt {
			h.pace.speedAt = h.now + lockstep.Second
			h.followLag()
		}
		h.wakeAt(h.pace.speedAt)
	}
	if h.options.Delay.Max > 0 {
		if h.now >= h.pace.delayAt {
			h.pace.delayAt = h.now + h.options.PingEvery
			h.followDelay()
		}
		h.wakeAt(h.pace.delayAt)
	}
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

// followLag slows the match down while a player's machine cannot keep up.
func (h *Host) followLag() {
	most := 100 - h.options.Slow.Percent
	for i := range h.seats {
		s := &h.seats[i]
		var lag lockstep.Tick
		if s.peer != nil && s.peer.state == Live {
			lag = h.lag(s.peer)
		}
		c := &s.pace.slowed
		switch c.follow(lag > h.options.Slow.Lead, lag <= h.options.Slow.Lead/2) {
		case 1:
			c.level = min(c.level+10, most)
		case -1:
			c.level -= min(c.level, 10)
		}
		s.pace.asks = lockstep.Time(c.level) * lockstep.Second / 100
	}
	c := &h.pace
	before := c.percent
	if c.percent = 100 - uint16(h.lose(lockstep.Second, paceSlower)*100/lockstep.Second); c.percent != before && h.applySpeed() != nil {
		c.percent = before // the tick is full; try again at the next measurement
	}
}

// applySpeed logs the speed and sets the clock to it.
func (h *Host) applySpeed() error {
	percent := max(uint16(uint32(h.pace.base)*uint32(h.pace.percent)/100), record.MinSpeed)
	if _, err := h.c.SetSpeed(percent); err != nil {
		return err
	}
	h.clock.set(int64(percent))
	h.event(Event{Kind: SpeedChanged, Player: lockstep.System, Number: int64(percent)})
	return nil
}
