package rules

import "github.com/seed-49bee653/samestep/lockstep"

// NewBot returns a bot that walks to the nearest gold. It gets a seed for bots that do not all play alike.
func NewBot(p lockstep.Player, _ uint64) lockstep.Bot {
	return func(s *lockstep.Simulation) []any {
		w := lockstep.World[World](s)
		if int(p) >= len(w.Diggers) || len(w.Gold) == 0 {
			return nil
		}
		at, next := w.Diggers[p].At, w.Gold[0]
		for _, gold := range w.Gold {
			if at.CompareDistance(gold, next) < 0 {
				next = gold
			}
		}
		order := walkTo(next)
		if order.at() == w.Diggers[p].To {
			return nil
		}
		return []any{order}
	}
}

// Points returns the score of a player. A program that learns the game gets what it gains as rewards.
func Points(w *World, _ *Score, p lockstep.Player) int { return int(w.Diggers[p].Found) }
