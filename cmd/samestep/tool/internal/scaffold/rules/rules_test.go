package rules

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

var (
	game  = lockstep.MustGame(Rules())
	usual = Usual(4)
)

// Every machine computes the same match from the same commands.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(5) {
		locksteptest.Check(t, game, locksteptest.Options{Config: &usual, Seed: seed + 1})
	}
}

// A fuzzer looks for matches that reach more of the rules.
func FuzzMatch(f *testing.F) {
	locksteptest.Fuzz(f, game, locksteptest.Options{Config: &usual, Players: 2, Ticks: 30},
		locksteptest.Source{Package: "rules", Game: "game"})
}

// A server and its players stay in sync through bad links, crashes and lies.
func TestCluster(t *testing.T) {
	locksteptest.Cluster(t, game, locksteptest.ClusterOptions{Config: &usual, Seeds: 2})
}

// The matches in testdata/golden have the same result on every machine, until Build changes with the rules.
func TestGolden(t *testing.T) {
	locksteptest.Golden(t, game, locksteptest.GoldenOptions{Config: &usual})
}
