//go:build !linux

package logbench

import "time"

var start = time.Now() //samestep:allow clock measures a game, and never reaches it

// clock returns a time that goes on.
//
//samestep:allow clock measures a game, and never reaches it
func clock() time.Duration { return time.Since(start) }

// processClock returns a time that goes on.
func processClock() time.Duration { return clock() }
