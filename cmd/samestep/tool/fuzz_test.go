//go:build !js

package tool

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
)

// faultyGame is a game with a fault.
func faultyGame() []Game {
	return []Game{New(planted.Rules("hidden"), Bot(skirmish.NewPlayer), Config(func(players int) skirmish.Config { return skirmish.Sized(players, 400) }), Units(skirmish.Sized), Source(locksteptest.Source{
		Package: "planted_test", Path: console.Module + "/internal/testing/planted",
		Game: `lockstep.MustGame(planted.Rules("hidden"))`, Imports: []string{console.Module + "/internal/testing/planted"},
	}))}
}
