package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that this program has used: what
// others on the machine do meanwhile does not count.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// beNice lets other programs go first.
func beNice() {
	// It is a courtesy: it may fail.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10)
}
