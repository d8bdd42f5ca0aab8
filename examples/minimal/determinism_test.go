package minimal_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Every machine computes the same match from the same commands.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(10) {
		locksteptest.Check(t, lockstep.MustGame(minimal.Rules()), locksteptest.Options{
			Config: &minimal.Config{Size: 32, Coins: 20}, Seed: seed + 1,
		})
	}
}

// A fuzzer looks for matches that reach more of the rules.
func FuzzMatch(f *testing.F) {
	locksteptest.Fuzz(f, lockstep.MustGame(minimal.Rules()), locksteptest.Options{
		Config: &minimal.Config{Size: 32, Coins: 20}, Players: 2, Ticks: 30,
	}, locksteptest.Source{Package: "minimal_test", Game: "lockstep.MustGame(minimal.Rules())"})
}

// A server and its players stay in sync through bad links, crashes and lies.
func TestCluster(t *testing.T) {
	locksteptest.Cluster(t, lockstep.MustGame(minimal.Rules()), locksteptest.ClusterOptions{
		Config: &minimal.Config{Size: 32, Coins: 20}, Seeds: 4,
	})
}

// The matches in testdata/golden have the same result on every machine and with every compiler, until Build changes with the
// rules.
func TestGolden(t *testing.T) {
	locksteptest.Golden(t, lockstep.MustGame(minimal.Rules()), locksteptest.GoldenOptions{
		Config: &minimal.Config{Size: 32, Coins: 20},
	})
}

// A match of written commands has the same checksum on every machine.
func TestChecksum(t *testing.T) {
	game := lockstep.MustGame(minimal.Rules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	header, err := game.NewHeader(lockstep.MatchID{}, settings, &minimal.Config{Size: 32, Coins: 20})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	for tick := lockstep.Tick(1); tick <= 300; tick++ {
		kind, payload, err := game.NewPayloads().Encode(&minimal.Go{X: uint16(tick % 32), Y: uint16(tick / 10)})
		if err != nil {
			t.Fatal(err)
		}
		order := lockstep.Command{Tick: tick, Player: lockstep.Player(tick % 2), Sequence: lockstep.Sequence(tick), Kind: kind, Payload: payload}
		if err := sim.Step(&lockstep.Frame{Tick: tick, Commands: []lockstep.Command{order}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := checksum.FormatHash(sim.Hash()), "398c03831ca1ac07"; got != want {
		t.Errorf("build %s: got checksum %s, want %s", game.Build(), got, want)
	}
}
