// Package watch plays a recorded match: it goes to any tick of it, forwards and
// back, and tells what happened around there.
//
//	v, err := watch.Open(file)
//	v.Seek(18000)
//	for !v.Work(40) {
//		// draw v.Worlds(), which are on their way
//	}
//
// A [Viewer] simulates the match again, from the nearest state before the tick
// that it knows: a keyframe of the file, one that it kept itself when it came
// by, or the one that it stands at. So it is the same follower as everybody,
// and compares what it computes with every checksum that it passes. It has no
// clock and no goroutine: a page calls [Viewer.Work] between two frames.
package watch
