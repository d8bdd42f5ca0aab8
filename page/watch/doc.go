// Package watch plays a replay: it seeks to any tick, forwards and back, and lists the commands around it.
//
//	v, err := watch.Open(file, game)
//	v.Seek(18000)
//	for !v.Work(40) {
//		// draw v.States()
//	}
//
// A [Viewer] simulates the match from the nearest known state before the tick: a keyframe of the file, a state that it
// kept while playing, or the present one. It is a follower like any other, and compares its state with every checksum
// on the way. A second replay can go along with it ([Viewer.Compare]), or the state of the player in a bundle of a desync; then a
// search finds the ticks at which they part ([Viewer.Find]). It has no clock and no goroutine: a page calls [Viewer.Work] between two frames.
package watch
