package server

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Lines in the log about refused calls: a flood of them must not fill the disk.
const (
	refusedLines       = 20 // a second
	refusedLinesAtOnce = 200
)

// A refusalLog limits the lines about refused calls.
type refusalLog struct {
	limit   *rate.Limiter
	omitted atomic.Int64 // since the last line
}

func newRefusalLog(perSecond rate.Limit, atOnce int) refusalLog {
	return refusalLog{limit: rate.NewLimiter(perSecond, atOnce)}
}

// allow reports whether another line may be logged, and how many were omitted before it.
func (l *refusalLog) allow() (omitted int64, ok bool) {
	if !l.limit.AllowN(time.Now(), 1) {
		l.omitted.Add(1)
		return 0, false
	}
	return l.omitted.Swap(0), true
}
