package logbench

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock returns the processor time of this thread, so other load on the processor does
// not count. The caller has locked its goroutine to the thread.
//
//samestep:allow unsafe measures a game, and never reaches it
//samestep:allow unseen measures a game, and never reaches it
func clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// processClock returns the processor time of all threads.
func processClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
