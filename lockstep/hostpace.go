package lockstep

// A pace is what the policies made of the match's speed and input delay.
type pace struct {
	base    uint16 // percent, as it was set
	percent uint16 // of base, by the slow policy
	held    bool   // the match waits for players
	heldAt  Time   // when that was looked at last

	speedAt, delayAt Time // when to look again
	slower, faster   int  // looks in a row that found a reason
	up, down         int
}

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	var dt Time
	if h.pace.held {
		dt = h.now - h.pace.heldAt
	}
	h.pace.heldAt = h.now
	if h.curtain.held != "" {
		h.pace.held = true
		return false
	}
	h.pace.held = h.c.Now() == 0 && h.players() < h.options.StartPlayers
	if h.options.Wait.Bound > 0 && h.c.Now() > 0 {
		for i := range h.seats {
			if h.holds(&h.seats[i], dt) {
				h.pace.held = true
			}
		}
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

// holds reports whether the match waits for a seat's player, who has held it for
// another dt.
func (h *Host) holds(s *hostSeat, dt Time) bool {
	behind := s.want == away
	if s.peer != nil && s.peer.state == Live {
		behind = h.lag(s.peer) >= h.options.Wait.Lead
	}
	if !behind {
		return false
	}
	if h.now-s.heldFrom >= 60*Second {
		s.held, s.heldFrom = 0, h.now
	}
	s.held += dt
	return s.held < h.options.Wait.Bound
}

// paceTime follows the policies.
func (h *Host) paceTime() {
	if h.options.Slow.Percent > 0 {
		if h.now >= h.pace.speedAt {
			h.pace.speedAt = h.now + Second
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

// followLag slows the match down while a player's machine does not keep up.
func (h *Host) followLag() {
	var worst Tick
	for i := range h.seats {
		if p := h.seats[i].peer; p != nil && p.state == Live {
			worst = max(worst, h.lag(p))
		}
	}
	c := &h.pace
	count(&c.slower, worst > h.options.Slow.Lead)
	count(&c.faster, worst <= h.options.Slow.Lead/2)
	percent := c.percent
	switch {
	case c.slower >= 2:
		percent, c.slower = max(percent-min(percent, 10), h.options.Slow.Percent), 0
	case c.faster >= 5:
		percent, c.faster = min(percent+10, 100), 0
	}
	before := c.percent
	if c.percent = percent; percent != before && h.applySpeed() != nil {
		c.percent = before // busy: next time
	}
}

// applySpeed makes clock and log follow the speed.
func (h *Host) applySpeed() error {
	percent := max(uint16(uint32(h.pace.base)*uint32(h.pace.percent)/100), minSpeed)
	if _, err := h.c.SetSpeed(percent); err != nil {
		return err
	}
	h.clock.set(int64(percent))
	h.event(Event{Kind: SpeedChanged, Player: System, Number: int64(percent)})
	return nil
}

// followDelay makes the input delay follow the slowest player's connection.
func (h *Host) followDelay() {
	var worst Time
	for i := range h.seats {
		if p := h.seats[i].peer; p != nil && p.rtt > 0 {
			worst = max(worst, p.rtt/2+2*p.jitter)
		}
	}
	if worst == 0 {
		return
	}
	period := h.clock.period()
	want := Tick((min(worst, MaxInputDelay*period) + period - 1) / period)
	want = min(max(want, h.options.Delay.Min, 1), h.options.Delay.Max)
	have := h.c.options.InputDelay
	c := &h.pace
	count(&c.up, want > have)
	count(&c.down, want < have)
	switch {
	case c.up >= 2:
		c.up = 0
	case c.down >= 5:
		c.down = 0
		want = have - 1
	default:
		return
	}
	if _, err := h.c.SetInputDelay(want); err == nil {
		h.event(Event{Kind: DelayChanged, Player: System, Number: int64(want)})
	}
}
