package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A pace is the match's speed and input delay as the policies set them.
type pace struct {
	base    uint16        // percent, as it was set
	percent uint16        // of base, by the slow policy
	held    bool          // the match waits for players
	heldAt  lockstep.Time // when that was looked at last

	speedAt, delayAt lockstep.Time // when to look again

	all    account  // of the match, for all players together
	nobody account  // of players who are not known since the match was taken up again
	needs  []uint16 // scratch
}

// A seatPace is the time that a player asks of the match, and its cost.
type seatPace struct {
	slowed  demand        // percent of the speed
	delayed demand        // ticks of input delay
	asks    lockstep.Time // to be lost, see lose
	cost    lockstep.Time // since the last note
	told    string        // what
	toldAt  lockstep.Time
}

// A demand is how much a player asks for, which follows what it was found to need.
type demand struct {
	level    uint16
	up, down int // looks in a row that found a reason
}

// An accountPace is the time that the match lost because of an account.
type accountPace struct {
	spent         bool          // of Rates.Pace, until half of the burst is back
	spentAt       lockstep.Time // the last time that it was
	asks, granted lockstep.Time // in the present look
	need          uint16
	mayVote       bool // while votes are counted
	votes         bool

	held             lockstep.Time // how long the match waited for it, in the minute that began at heldFrom
	heldFrom, heldAt lockstep.Time
}

const minute = 60 * lockstep.Second

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	var dt lockstep.Time
	if h.pace.held {
		dt = h.now - h.pace.heldAt
	}
	h.pace.heldAt = h.now
	if h.barrier.held != "" {
		h.pace.held = true
		return false
	}
	h.pace.held = h.c.Now() == 0 && h.players() < h.options.StartPlayers
	if h.options.Wait.Bound > 0 && h.c.Now() > 0 && h.waits(dt) {
		h.pace.held = true
	}
	return !h.pace.held
}

// players returns how many seats have a player.
func (h *Host) players() (n int) {
	for i := range h.seats {
		if h.seats[i].want == here {
			n++
		}
	}
	return n
}

// bill makes an account pay for the time that the match loses because of a seat's player.
func (h *Host) bill(s *hostSeat, a *account) {
	if s.account == a {
		return
	}
	if s.account != nil {
		s.account.users--
	}
	if s.account = a; a != nil {
		a.users++
	}
	s.pace, s.vote = seatPace{}, nil // of another player
}

// accountOf returns the account that pays for a seat.
func (h *Host) accountOf(s *hostSeat) *account {
	if s.account == nil {
		return &h.pace.nobody
	}
	return s.account
}

// grant takes what is asked for from an account's pace, for a span of time. What
// it cannot pay is cut to what the rate refills in that span, until half is back:
// a match that is slow for a moment again and again is worse than one that is not.
func (a *account) grant(now lockstep.Time, r Rate, ask, span lockstep.Time) lockstep.Time {
	room := lockstep.Time(a.used[paceBudget].room(now, r))
	if a.pace.spent && room >= lockstep.Time(r.Burst)/2 {
		a.pace.spent = false
	}
	if ask > room {
		a.pace.spent = true
	}
	if a.pace.spent {
		a.pace.spentAt = now
		ask = min(ask, room, span*lockstep.Time(r.N)/r.Per)
	}
	a.used[paceBudget].take(now, r, int(ask))
	return ask
}

// lose returns how much time the match loses in a span because of what its seats
// ask for. All lose it at the same time, so it is the most that anybody is granted.
// Everybody is told because of whom it does.
func (h *Host) lose(span lockstep.Time, what string) (most lockstep.Time) {
	players, alone := h.players(), lockstep.Time(0)
	for i := range h.seats {
		s := &h.seats[i]
		if players == 0 || players == 1 && s.want == here {
			alone, s.pace.asks = max(alone, s.pace.asks), 0 // no other player is there
		}
		a := h.accountOf(s)
		a.pace.asks = max(a.pace.asks, s.pace.asks)
	}
	rate := h.options.Rates.Pace
	for i := range h.seats {
		s := &h.seats[i]
		a := h.accountOf(s)
		if a.pace.asks > 0 { // the first seat of the account
			a.pace.granted, a.pace.asks = a.grant(h.now, rate, a.pace.asks, span), 0
		}
		if s.pace.asks > 0 {
			granted := min(s.pace.asks, a.pace.granted)
			s.pace.asks, s.pace.cost, most = 0, s.pace.cost+granted, max(most, granted)
			h.tellPace(lockstep.Player(i), a, what)
		}
	}
	if most > 0 {
		most = h.pace.all.grant(h.now, rate.times(matchPace), most, span)
	}
	return max(most, alone)
}

// TopicPace is the topic of the notes that say because of which player a match
// loses time, and how.
const TopicPace = "pace"

// Texts of these notes.
const (
	paceWaits   = "the match waits for this player"
	paceSlower  = "the match is slower for this player"
	paceDelayed = "commands take longer because of this player's connection"
	paceSpent   = "the match does not wait for this player for a while"
)

const (
	tellAgain  = minute               // the same
	tellNext   = 10 * lockstep.Second // something else
	worthANote = lockstep.Second      // the cost of a player since the last note
)

// tellPace tells all peers how much time the match loses because of a player, seldom
// enough for people to read it.
func (h *Host) tellPace(p lockstep.Player, a *account, text string) {
	c := &h.seats[p].pace
	if a.pace.spent {
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
	h.event(Event{Kind: TimeLost, Player: p, Number: int64(a.used[paceBudget].used/h.options.Rates.Pace.Per) / 1000, Text: text})
	h.announce(p, TopicPace, text)
}

// matchPace is how many times the limit of a player's pace holds for a match.
const matchPace = 2

// waits reports whether the match waits for players, who have held it for another
// dt.
func (h *Host) waits(dt lockstep.Time) bool {
	for i := range h.seats {
		s := &h.seats[i]
		if !h.behind(s) {
			continue
		}
		p := &h.accountOf(s).pace
		if h.now-p.heldFrom >= minute {
			p.held, p.heldFrom = 0, h.now
		}
		if p.heldAt != h.now {
			p.held, p.heldAt = p.held+dt, h.now
		}
		if p.held < h.options.Wait.Bound {
			s.pace.asks = max(dt, 1) // a share that is spent does not begin again
		}
	}
	return h.lose(0, paceWaits) > 0
}

// behind reports whether a WaitPolicy has the match wait for a seat's player.
func (h *Host) behind(s *hostSeat) bool {
	if s.peer != nil && s.peer.state == Live {
		return h.lag(s.peer) >= h.options.Wait.Lead
	}
	return s.want == away
}

// paceTime follows the policies.
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

// count counts the looks in a row that found a reason.
func count(n *int, reason bool) {
	if reason {
		*n++
	} else {
		*n = 0
	}
}

// follow counts a look that found more or less to be needed than is claimed, and
// reports a change that it is time for.
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

// followLag slows the match down while a player's machine does not keep up.
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
		c.percent = before // busy: next time
	}
}

// applySpeed makes clock and log follow the speed.
func (h *Host) applySpeed() error {
	percent := max(uint16(uint32(h.pace.base)*uint32(h.pace.percent)/100), record.MinSpeed)
	if _, err := h.c.SetSpeed(percent); err != nil {
		return err
	}
	h.clock.set(int64(percent))
	h.event(Event{Kind: SpeedChanged, Player: lockstep.System, Number: int64(percent)})
	return nil
}
