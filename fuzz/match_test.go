package fuzz

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// source returns the Go expression for a game in a test of this package.
func source(game, folder string) locksteptest.Source {
	const module = "github.com/seed-49bee653/samestep/"
	return locksteptest.Source{Package: "fuzz", Path: module + "fuzz", Game: game, Imports: []string{module + folder}}
}

// randomOrders is the reason why matches of random commands are enough here.
const randomOrders = "most random orders name units of others, or none; in TestSkirmishBots the rules accept nearly all commands"

func FuzzNull(f *testing.F) {
	locksteptest.Fuzz(f, nullgame.New(), locksteptest.Options{Config: &nullgame.Config{}, Players: 3, Ticks: 20, Floor: locksteptest.Floor{Kinds: -1}}, source("nullgame.New()", "internal/nullgame"))
}

func FuzzMinimal(f *testing.F) {
	o := locksteptest.Options{Config: &minimal.Config{Size: 32, Coins: 20}, Players: 3, Ticks: 30}
	locksteptest.Fuzz(f, lockstep.MustGame(minimal.Rules()), o, source("lockstep.MustGame(minimal.Rules())", "examples/minimal"))
}

func FuzzSkirmish(f *testing.F) {
	config := skirmish.Defaults(2, 24)
	config.Size = skirmish.MinSize // making a larger map takes most of a short match
	if testenv.Small(f) {
		config.Obstacles = 3 // and so do more rocks
	}
	o := locksteptest.Options{Config: &config, Players: 2, Ticks: 24, AllowThin: randomOrders}
	locksteptest.Fuzz(f, lockstep.MustGame(skirmish.Rules()), o, source("lockstep.MustGame(skirmish.Rules())", "examples/skirmish"))
}

// A longer match of the RTS: bots build and fight, and random commands run between theirs.
func TestSkirmishBots(t *testing.T) {
	config := skirmish.Defaults(4, 120)
	var bots []*skirmish.Bot
	for p := range lockstep.Player(4) {
		bots = append(bots, skirmish.NewBot(p, 7))
	}
	o := locksteptest.Options{Config: &config, Players: 4, Ticks: 400, Every: 100, Rate: 1}
	o.Play = func(p lockstep.Player, s *lockstep.Simulation) []any {
		var values []any
		for _, order := range bots[p].Think(lockstep.World[skirmish.World](s)) {
			values = append(values, order.Value)
		}
		return values
	}
	locksteptest.Check(t, lockstep.MustGame(skirmish.Rules()), o)
}
