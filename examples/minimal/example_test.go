package minimal_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// The coordinator orders the commands of two players, and a follower computes the same states from its log.
func Example() {
	game := lockstep.MustGame(minimal.Rules())
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &minimal.Config{Size: 20, Coins: 50})
	if err != nil {
		panic(err)
	}
	follower := game.NewFollower(lockstep.FollowerOptions{})
	match, err := coordinator.New(game, header, follower, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	for player := range lockstep.Player(2) {
		if _, err := match.Join(player); err != nil {
			panic(err)
		}
		kind, payload, err := game.NewPayloads().Encode(&minimal.Go{X: 20, Y: 5 + 10*uint16(player)})
		if err != nil {
			panic(err)
		}
		fmt.Println(match.Submit(player, 1, kind, payload))
	}
	for range 150 {
		if _, err := match.Tick(); err != nil {
			panic(err)
		}
	}
	for player, dot := range lockstep.World[minimal.World](follower.Simulation()).Dots {
		fmt.Printf("player %d is at %v,%v and has %d coins\n", player, dot.At.X, dot.At.Y, dot.Coins)
	}
	fmt.Println("same checksum:", follower.Simulation().Hash() == match.Referee().Simulation().Hash())
	// Output:
	// accepted for tick 2
	// accepted for tick 2
	// player 0 is at 20,5 and has 5 coins
	// player 1 is at 20,15 and has 5 coins
	// same checksum: true
}
