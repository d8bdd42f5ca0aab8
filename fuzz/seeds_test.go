package fuzz

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// TestSeeds plays random matches of growing size without a fuzzer, which is much faster: 4
// of each game, or the number in SAMESTEP_SEEDS.
func TestSeeds(t *testing.T) {
	seeds := 4
	if text := os.Getenv("SAMESTEP_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	nullConfig, minimalConfig := nullgame.Config{}, minimal.Config{Size: 32, Coins: 20}
	for _, c := range []struct {
		name   string
		game   *lockstep.Game
		config func(players uint8) any
	}{
		{"null", nullgame.New(), func(uint8) any { return &nullConfig }},
		{"minimal", lockstep.MustGame(minimal.Rules()), func(uint8) any { return &minimalConfig }},
		{"skirmish", lockstep.MustGame(skirmish.Rules()), func(players uint8) any {
			config := skirmish.Defaults(players, 20*uint16(players))
			return &config
		}},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) {
				players := uint8(2 + seed%7)
				locksteptest.Check(t, c.game, locksteptest.Options{
					Config: c.config(players), Players: players, Seed: uint64(seed) + 1,
					Ticks: lockstep.Tick(40 + seed%5*20), Every: lockstep.Tick(7 + seed%30), Span: 25, AllowThin: randomOrders,
				})
			})
		}
	}
}
