// Package play is a person at the game: a [Camera] over the map, a selection of
// units, and what clicks and keys mean, as commands of the game.
//
//	p := play.New(seat)
//	p.Resize(1280, 720)
//	p.Drag(world, 100, 100, 400, 300, false) // selects what is in the box
//	for _, c := range p.Act(world, 800, 400, false) {
//		session.Submit(c) // move there, attack, gather or help to build
//	}
//
// It reads states and gives pointers to commands, and knows neither a browser nor
// a network. Places on the screen are in pixels from the upper left corner. What
// the rules would refuse is not given at all: [Player.Problem] says why, in the
// words of the rules.
package play
