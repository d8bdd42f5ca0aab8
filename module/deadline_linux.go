package module

import (
	"time"

	"golang.org/x/sys/unix"
)

// The kinds of clocks of the kernel, in the lowest bits of their numbers; the others are the inverse of the number of a process or thread.
const (
	clockOfProcess = 2
	clockOfThread  = 6
)

// threadClock returns the clock of the time that this thread has had on processors, for all threads.
func threadClock() func() time.Duration { return clock(unix.Gettid(), clockOfThread) }

// processClock is threadClock for a process that has not been waited for.
func processClock(process int) func() time.Duration { return clock(process, clockOfProcess) }

func clock(of int, kind int32) func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(^int32(of)<<3|kind, &t); err != nil {
			return 0 // it has ended
		}
		return time.Duration(t.Nano())
	}
}
