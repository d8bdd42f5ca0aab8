package rules

import "github.com/seed-49bee653/samestep/lockstep"

// NewBot returns a bot that walks to the nearest gold.
func NewBot(p lockstep.Player, _ uint64) lockstep.Bot {
	var sent Walk
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
		order := Walk{X: uint8(min(next.X.Round().Int(), 255)), Y: uint8(min(next.Y.Round().Int(), 255))}
		if order == sent {
			return nil
		}
		sent = order
		return []any{&sent}
	}
}
