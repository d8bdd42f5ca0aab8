//go:build !linux

package logbench

import "time"

var start = time.Now()

// clock returns a time that goes on.
func clock() time.Duration { return time.Since(start) }

// processClock returns a time that goes on.
func processClock() time.Duration { return clock() }
