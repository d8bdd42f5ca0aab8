//go:build !linux

package logbench

import "time"

var start = time.Now() //samestep:allow clock measures a game, and never reaches it

// clock returns the time since the program started.
//
//samestep:allow clock measures a game, and never reaches it
func clock() time.Duration { return time.Since(start) }

// processClock is clock where the processor time of all threads is unknown.
func processClock() time.Duration { return clock() }
