// Package program is the program of a page: any game, compiled to WebAssembly (GOOS=js GOARCH=wasm). It joins matches, plays
// replays, and answers the calls of the page's modules.
//
// [Run] is the whole program of the inspector page. A page of a game's own makes its own functions, and takes those of
// the lobby and of replays from [Functions.Lobby] and [Functions.Watch].
//
// A site lists its games in a file games.json, and has the modules of those that the program is built without: [Files] returns
// both. The page fetches a module when a match, a replay or the lobby's form needs it, and [Run] plays its game like its own. A replay may have its
// module in its file.
package program

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/canvas"
)

// A Game is a game of the page.
type Game struct {
	*lockstep.Game

	// Draw draws a state, which it must not change. Nil shows a map of the state's places instead.
	Draw func(c *canvas.Canvas, s *lockstep.Simulation)

	// Config returns a pointer to the configuration of a usual match, which the lobby changes. Nil is the zero configuration.
	Config func(players uint8) any
	// Sized does the same for a match with some units. Nil: the game has no number of units.
	Sized func(players uint8, units uint16) any

	// Module has the rules of a game that the program is built without. The page fetches it. Nil: the program has the rules.
	Module []byte

	Bots      []string   // the names of its bots, the usual one first; none if there is nothing to choose
	Scenarios []Scenario // that the lobby offers besides a usual match
}

// A Scenario is a configuration with a name, such as a map.
type Scenario struct {
	Name    string                  `json:"name"`
	Players int                     `json:"players"` // at most, 0: as many as the game allows
	Config  func(players uint8) any `json:"-"`       // returns a pointer to the configuration
}
