// Package program is the program of a page: any game, compiled to WebAssembly (GOOS=js GOARCH=wasm). It joins matches, plays
// replays, and answers the calls of the page's modules.
//
// [Run] is the whole program of the inspector page. A page of a game's own makes its own functions, and takes those of
// replays from [Functions.Watch].
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
}
