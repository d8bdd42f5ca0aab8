package planted

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A market is a game of a few lines: stalls that sell goods at a price. Its rules are correct; see [Mistakes].
type (
	Market struct {
		Tick   uint32
		Drawn  uint64
		Stalls []Stall
		Sold   []uint32 // for a mistake
		Told   []uint32 // for a mistake
		Total  uint64   `state:"derived"` // the value of all goods
		Order  []uint16 `state:"derived"` // the stalls by price
		Last   *Offer   `state:"derived"` // for a mistake
	}
	Stall struct {
		Owner lockstep.Player
		Goods uint32
		Price uint32
	}
	Setup struct {
		Stalls uint16
		Prices []uint32 // of the first stalls
	}
	Offer struct {
		Stall uint16
		Goods uint16
	}
	Reprice struct {
		Stall uint16
		Price uint16
	}
)

// MarketRules returns the rules of the game without a mistake.
func MarketRules() lockstep.Rules[Market, Setup] {
	return lockstep.Rules[Market, Setup]{
		Name: "market", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Offer](1, "offer"), lockstep.Type[Reprice](2, "reprice")},
		New:      openMarket, Step: trade, Derive: deriveMarket, Validate: validateOffer,
	}
}

func openMarket(m *Market, s *lockstep.Settings, setup *Setup) error {
	if setup.Stalls == 0 {
		return errors.New("no stalls")
	}
	m.Drawn = s.Seed
	for i := range setup.Stalls {
		stall := Stall{Owner: lockstep.Player(i % uint16(s.Players)), Goods: 10, Price: 1}
		if int(i) < len(setup.Prices) {
			stall.Price = setup.Prices[i]
		}
		m.Stalls = append(m.Stalls, stall)
	}
	return nil
}

func deriveMarket(m *Market, _ *Setup) {
	m.Total, m.Order = 0, m.Order[:0]
	for i := range m.Stalls {
		m.Total += uint64(m.Stalls[i].Goods) * uint64(m.Stalls[i].Price)
		at := len(m.Order)
		m.Order = append(m.Order, uint16(i))
		for ; at > 0 && m.Stalls[m.Order[at-1]].Price > m.Stalls[i].Price; at-- {
			m.Order[at] = m.Order[at-1]
		}
		m.Order[at] = uint16(i)
	}
}

func trade(m *Market, setup *Setup, t *lockstep.Turn) {
	m.Tick++
	m.Drawn = m.Drawn*6364136223846793005 + 1442695040888963407
	for i := range t.Commands {
		switch c := t.Commands[i].Value.(type) {
		case *Offer:
			m.Stalls[int(c.Stall)%len(m.Stalls)].Goods += uint32(c.Goods)
		case *Reprice:
			m.Stalls[int(c.Stall)%len(m.Stalls)].Price = uint32(c.Price)
		}
	}
	deriveMarket(m, setup)
	cheapest := &m.Stalls[m.Order[0]]
	cheapest.Goods -= min(cheapest.Goods, 1+uint32(m.Total%3))
	deriveMarket(m, setup)
}

func validateOffer(m *Market, _ *Setup, c *lockstep.Command) error {
	if o, ok := c.Value.(*Offer); ok && o.Goods == 0 {
		return errors.New("no goods")
	}
	return nil
}
