package skirmish_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The engine's checks of a game: random commands, arrival orders, restores and copies.
func TestEngineChecks(t *testing.T) {
	config := skirmish.Defaults(4, 80)
	config.Crystals = 2000
	for seed := range some(t, 4) {
		locksteptest.Check(t, lockstep.MustGame(skirmish.Rules()), locksteptest.Options{
			Config: &config, Seed: seed + 1, Ticks: 300, Rate: 12,
			AllowThin: "most random orders name units of others, or none; the fuzz tests also play bots",
		})
	}
}
