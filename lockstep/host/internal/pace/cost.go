package pace

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
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
