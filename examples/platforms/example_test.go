package platforms_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
)

// Two bots play for ten seconds.
func Example() {
	config := platforms.Usual(2)
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.TickMicros = 1, lockstep.TickPeriod(60)
	match, err := local.New(lockstep.MustGame(platforms.Rules()), &config, local.Options{
		Settings: settings, Bots: []lockstep.Bot{platforms.NewBot(0, 1), platforms.NewBot(1, 2)},
	})
	if err != nil {
		panic(err)
	}
	for now := lockstep.Time(0); now < 10*lockstep.Second; now += 16 * lockstep.Millisecond {
		if err := match.Advance(now); err != nil {
			panic(err)
		}
	}
	w := lockstep.World[platforms.World](match.Client().Simulation())
	for p := range w.Units {
		fmt.Printf("unit %d is at %d,%d\n", w.UnitID(lockstep.Player(p)), w.Units[p].X, w.Units[p].Y)
	}
	fmt.Println("checksum", w.Checksum(&config))
	// Output:
	// unit 8 is at 4050,4000
	// unit 9 is at 4400,-3762
	// checksum 2aea5ec2
}
