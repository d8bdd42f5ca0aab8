package maps_test

import (
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match on a map that comes with skirmish.
func ExampleRead() {
	file, err := os.ReadFile("crossroads.map")
	if err != nil {
		panic(err)
	}
	crossroads, err := record.NewAsset("crossroads.map", file)
	if err != nil {
		panic(err)
	}
	game := lockstep.MustGame(skirmish.Rules()).WithAssets(maps.Read)
	config := skirmish.Defaults(4, 100)
	config.Map = []lockstep.Asset{crossroads}
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(4), &config)
	if err != nil {
		panic(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		panic(err)
	}
	world := lockstep.World[skirmish.World](sim)
	fmt.Printf("%d × %d cells, %d crystals, the first base at %v,%v\n", world.Map.Size, world.Map.Size, len(world.Crystals), world.Units[0].Pos.X, world.Units[0].Pos.Y)
	// Output: 64 × 64 cells, 28 crystals, the first base at 11,11
}
