package measure

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Failure counts the failures of a kind, and remembers when the last one was. Alerts go by its age: a counter that is 1 at its
// first scrape, as after a start at which something failed, has no increase.
type Failure struct {
	prometheus.Counter
	Age  prometheus.Collector
	last atomic.Pointer[time.Time] // nil if there was none
}

// NewFailure returns the failures of a kind. build is that of the matches, or "". The caller registers the counter and the age.
func NewFailure(c prometheus.Counter, kind, build string) *Failure {
	f := &Failure{Counter: c}
	f.Age = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_failure_age_seconds", Help: "Time since the last failure, by kind and, of a desync, by the build of the match; +Inf without one.",
		ConstLabels: prometheus.Labels{"kind": kind, "build": build},
	}, f.age)
	return f
}

// Inc counts a failure.
func (f *Failure) Inc() {
	now := time.Now()
	f.last.Store(&now)
	f.Counter.Inc()
}

// age returns the seconds since the last failure.
func (f *Failure) age() float64 {
	last := f.last.Load()
	if last == nil {
		return math.Inf(1)
	}
	return time.Since(*last).Seconds()
}
