//go:build !js

package tool

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// duelGame is a game of at most two seats.
func duelGame() []Game {
	rules := minimal.Rules()
	start := rules.New
	rules.Name = "duel"
	rules.New = func(w *minimal.World, s *lockstep.Settings, c *minimal.Config) error {
		if s.Players > 2 {
			return fmt.Errorf("got %d players, want at most 2", s.Players)
		}
		return start(w, s, c)
	}
	return []Game{New(rules, Bot(minimal.NewBot), Config(func(int) minimal.Config { return minimal.Config{Size: 32, Coins: 8} }))}
}
