//go:build !linux && !js

package module

import "time"

// threadClock and processClock return the clock of the time that passes, where the system has none for threads.
func threadClock() func() time.Duration {
	from := time.Now()
	return func() time.Duration { return time.Since(from) }
}

func processClock(int) func() time.Duration { return threadClock() }
