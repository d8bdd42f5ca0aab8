//go:build !linux

package main

import "time"

// processorTime returns 0 where it is not known.
func processorTime() time.Duration { return 0 }

// beNice lets other programs go first, where that is known how.
func beNice() {}
