package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// GameName and RulesBuild identify the game: RulesBuild changes with every change of the rules.
const (
	GameName   = "skirmish"
	RulesBuild = "7"
)

// Rules returns the rules of the game.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name:     GameName,
		Build:    RulesBuild,
		Commands: commandTypes(),
		Assets:   func(c *Config) []lockstep.Asset { return c.Map },
		Load:     (*Config).load,
		New:      start,
		Step:     step,
		Result:   lockstep.Result[Result](),
		Derive:   func(w *World, _ *Config) { derive(w) },
		Describe: describe,
		SelfTest: fixed.SelfTest,
		View:     lockstep.View(see, refuse),
		ViewOf:   viewOf,
	}
}
