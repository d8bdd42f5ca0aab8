package platforms_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// play returns the commands of a bot. Random ones mostly name other units.
func play(p lockstep.Player, s *lockstep.Simulation) []any {
	return platforms.NewBot(p, uint64(p)+1)(s)
}

// Every machine computes the same match from the same commands.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(5) {
		locksteptest.Check(t, game, locksteptest.Options{Config: &usual, Seed: seed + 1, Play: play})
	}
}

// A fuzzer looks for matches that reach more of the rules.
func FuzzMatch(f *testing.F) {
	locksteptest.Fuzz(f, game, locksteptest.Options{Config: &usual, Players: 2, Ticks: 30, Play: play},
		locksteptest.Source{Package: "platforms_test", Game: "lockstep.MustGame(platforms.Rules())"})
}

// A server and its players stay in sync through bad links, crashes and lies.
func TestCluster(t *testing.T) {
	locksteptest.Cluster(t, game, locksteptest.ClusterOptions{Config: &usual, Seeds: 3, Play: play})
}

// The matches in testdata/golden have the same result on every machine and with every compiler, until Build changes with the
// rules.
func TestGolden(t *testing.T) {
	locksteptest.Golden(t, game, locksteptest.GoldenOptions{Config: &usual, Play: play})
}
