package pace

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Texts of a Cost.
const (
	costsWait  = "the match waits for this player"
	costsSpeed = "the match is slower for this player"
	costsDelay = "commands take longer because of this player's connection"
	costsSpent = "the match does not wait for this player for a while"
)

const (
	tellAgain  = 60 * lockstep.Second // between equal Costs
	tellNext   = 10 * lockstep.Second // between different ones
	worthACost = lockstep.Second      // the least cost since the last one
)

// Bill makes an account pay for a seat from now on, and forgets what another player has asked for.
func (p *Pace) Bill(player lockstep.Player, account budget.ID) {
	p.seats[player] = seat{account: account}
}

// Costs returns whom everybody is told of since the last call. The slice is valid until the next call of another method.
func (p *Pace) Costs() []Cost {
	costs := p.costs
	p.costs = p.costs[:0]
	return costs
}

// shareOf returns the share of the account of a seat.
func (p *Pace) shareOf(i int) *share {
	account := p.seats[i].account
	return &p.shares[slices.IndexFunc(p.seats, func(s seat) bool { return s.account == account })]
}

// players returns the number of connected players.
func players(seats []Seat) (n int) {
	for i := range seats {
		if seats[i].Here {
			n++
		}
	}
	return n
}

// isAlone reports whether there is no other player, who could lose time.
func isAlone(players int, s *Seat) bool { return players == 0 || players == 1 && s.Here }

// lose charges the seats for the match time that they ask for, and returns the time that the match loses in an
// interval. All seats lose it at the same time, so it is the largest grant. Costs tell all peers which player costs
// time.
func (p *Pace) lose(now, interval lockstep.Time, seats []Seat, what string) (most lockstep.Time) {
	there, alone := players(seats), lockstep.Time(0)
	for i := range p.shares {
		p.shares[i].asks = 0
	}
	for i := range p.seats {
		s := &p.seats[i]
		if isAlone(there, &seats[i]) {
			alone, s.asks = max(alone, s.asks), 0
		}
		a := p.shareOf(i)
		a.asks = max(a.asks, s.asks)
	}
	for i := range p.seats {
		s, a := &p.seats[i], p.shareOf(i)
		if a.asks > 0 { // the first seat of the account
			a.granted, a.used, a.spent = p.payers.Grant(now, s.account, a.asks, interval)
			a.asks = 0
		}
		if s.asks > 0 {
			granted := min(s.asks, a.granted)
			s.asks, s.cost, most = 0, s.cost+granted, max(most, granted)
			p.tell(now, lockstep.Player(i), a, what)
		}
	}
	if most > 0 {
		most = p.payers.GrantAll(now, most, interval)
	}
	return max(most, alone)
}

// tell tells all peers that a player costs the match time. It limits the number of Costs so that people can read
// them.
func (p *Pace) tell(now lockstep.Time, player lockstep.Player, a *share, text string) {
	s := &p.seats[player]
	if a.spent {
		text = costsSpent
	}
	switch {
	case text == s.told:
		if s.cost < worthACost || now < s.toldAt+tellAgain {
			return
		}
	case text == costsSpent: // at once
	case s.cost < worthACost || s.told != "" && now < s.toldAt+tellNext:
		return
	}
	s.cost, s.told, s.toldAt = 0, text, now
	p.costs = append(p.costs, Cost{player, text, a.used})
}

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

// tellAfter is how long a wait lasts before the peers are told, and the least time between two changes of it, unless the
// server, a player or the lobby decides.
const tellAfter = lockstep.Second / 2

// Hold stops the sealing of ticks for a reason of the server until it is called again, without a reason. It returns false if
// nothing changes.
func (p *Pace) Hold(now lockstep.Time, w Wait) bool {
	if h := &p.held; w.Reason == h.Reason && w.Until == h.Until && slices.Equal(w.Players, h.Players) {
		return false
	}
	if w.Reason != p.held.Reason {
		p.Waiting, p.waitingAt = w.Reason != "", now // a WaitPolicy charges no player for the time of a hold
	}
	w.Players = slices.Clone(w.Players)
	p.held = w
	return true
}

// Held returns the reason of Hold, or "".
func (p *Pace) Held() string { return p.held.Reason }

// Pause says who has paused the match.
func (p *Pace) Pause(player lockstep.Player) { p.pauser = []lockstep.Player{player} }

// wait returns why the match stands still or runs slower now.
func (p *Pace) wait(s *Situation) Wait {
	switch {
	case s.Over:
		return Wait{}
	case p.held.Reason != "":
		return p.held
	case s.Paused:
		return Wait{Reason: protocol.HeldPaused, Players: p.pauser}
	case s.Lobby.Reason != "":
		return s.Lobby
	case p.Waiting:
		return Wait{Reason: protocol.HeldForSlow, Players: p.slow, Until: p.until}
	case p.percent < 100:
		return Wait{Reason: protocol.HeldSlower, Players: p.slowed()}
	}
	return Wait{}
}

// slowed returns the players for whom the match is slower.
func (p *Pace) slowed() (players []lockstep.Player) {
	for i := range p.seats {
		if p.seats[i].slowed.level > 0 {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// Tell finds out what the match waits for, and reports whether the peers are told another Wait than before. It is due again at a later
// time, or Never.
func (p *Pace) Tell(now lockstep.Time, s Situation) (changed bool, again lockstep.Time) {
	w := p.wait(&s)
	if w.Reason == "" && p.present.Reason == "" && p.Told.Reason == "" {
		return false, Never // as nearly always
	}
	w.Since = p.present.Since
	if w.Reason != p.present.Reason {
		w.Since = now
	}
	p.present = w
	if w.Reason == p.Told.Reason && sameEnd(w.Until, p.Told.Until) && slices.Equal(w.Players, p.Told.Players) {
		return false, Never
	}
	if w.Reason == protocol.HeldForSlow || w.Reason == protocol.HeldSlower {
		at := w.Since + tellAfter
		if p.Told.Reason == w.Reason {
			at = p.toldAt + tellAfter
		}
		if now < at {
			return false, at
		}
	}
	w.Players = slices.Clone(w.Players)
	p.Told, p.toldAt = w, now
	p.Version++
	return true, Never
}

// sameEnd reports whether two ends of a wait are the same for people.
func sameEnd(a, b lockstep.Time) bool { return (a == 0) == (b == 0) && max(a-b, b-a) < lockstep.Second }
