package program_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/program"
)

// A site tells the lobby of its games, which is shown before the program has arrived.
func ExampleList() {
	game := program.Game{Game: lockstep.MustGame(minimal.Rules()), Bots: []string{"usual", "clever"}}
	fmt.Println(string(program.List(game, game)))
	// Output:
	// [{"name":"minimal","sized":false,"bots":["usual","clever"],"scenarios":[]}]
}
