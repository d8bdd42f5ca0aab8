package minimal

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Usual returns the options of a usual match.
func Usual(players int) Config { return Config{Size: 32, Coins: uint16(10 * players)} }

// NewBot returns a bot that walks to the next coin. It needs no chance, so it leaves the seed alone.
func NewBot(p lockstep.Player, _ uint64) lockstep.Bot {
	var sent Go
	return func(s *lockstep.Simulation) []any {
		w := lockstep.World[World](s)
		if int(p) >= len(w.Dots) || len(w.Coins) == 0 {
			return nil
		}
		at, next := w.Dots[p].At, w.Coins[0]
		for _, coin := range w.Coins {
			if at.CompareDistance(coin, next) < 0 {
				next = coin
			}
		}
		order := Go{X: cell(next.X), Y: cell(next.Y)}
		if order == sent {
			return nil
		}
		sent = order
		return []any{&sent}
	}
}

// cell returns the cell next to a coordinate. A dot there is near enough to take a coin.
func cell(q fixed.Q) uint16 { return uint16(q.Round().Int()) }
