// Package play is the user's side of the page: a [Camera] over the map, the selected units, and the commands that
// clicks and keys give.
//
//	p := play.New(seat)
//	p.Resize(1280, 720)
//	p.Drag(world, 100, 100, 400, 300, false) // selects the units in the box
//	for _, c := range p.Act(world, 800, 400, false) {
//		session.Submit(c) // move there, attack, gather or help to build
//	}
//
// It reads states and returns pointers to commands, without a browser or a network. Places on the screen are in pixels
// from the upper left corner. It returns no command that the rules would reject: [Player.Problem] has the reason.
package play
