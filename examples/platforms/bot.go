package platforms

import "github.com/seed-49bee653/samestep/lockstep"

// NewBot returns a bot that walks to and fro on the floor, and jumps on the way. Bots of other seeds turn at other times.
func NewBot(p lockstep.Player, seed uint64) lockstep.Bot {
	return func(s *lockstep.Simulation) []any {
		w := lockstep.World[World](s)
		if int(p) >= len(w.Units) {
			return nil
		}
		u, targets := &w.Units[p], []uint64{uint64(w.UnitID(p))}
		to := u.MoveX
		switch turn := (uint64(s.Tick()) + seed*37) % 200; {
		case u.X > 7500 || turn == 0:
			to = -1
		case u.X < 500 || turn == 100:
			to = 1
		case turn%40 == 20:
			return []any{&Jump{Number: uint64(s.Tick()), Targets: targets}}
		}
		if to == u.MoveX {
			return nil
		}
		return []any{&Move{Number: uint64(s.Tick()), Targets: targets, X: to}}
	}
}
