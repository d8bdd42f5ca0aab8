package console

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the CPU time of this process.
func CPUTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// BeNice lets other programs go first.
func BeNice() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // it may fail
}

// MayCompile reports whether this process may make memory executable, which compiled modules need.
func MayCompile() bool {
	b, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer unix.Munmap(b)
	return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC) == nil
}
