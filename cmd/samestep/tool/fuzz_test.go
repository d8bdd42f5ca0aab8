//go:build !js && !wasip1

package tool

import (
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// faultyMain is the program of a studio whose game has a fault.
func faultyMain() {
	game := *games[0]
	game.Game = lockstep.MustGame(planted.Rules("hidden"))
	game.source = locksteptest.Source{
		Package: "planted_test", Path: module + "/internal/testing/planted",
		Game: `lockstep.MustGame(planted.Rules("hidden"))`, Imports: []string{module + "/internal/testing/planted"},
	}
	Main(Game{game: &game})
}
