package server

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A failure counts the failures of a kind, and remembers when the last one was. Alerts go by its age: a counter that is 1 at its
// first scrape, as after a start at which something failed, has no increase.
type failure struct {
	prometheus.Counter
	last atomic.Pointer[time.Time] // nil if there was none
}

// newFailure returns the failures of a kind, and registers their age. build is that of the matches, or "".
func newFailure(r *prometheus.Registry, c prometheus.Counter, kind, build string) *failure {
	f := &failure{Counter: c}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_failure_age_seconds", Help: "Time since the last failure, by kind and, of a desync, by the build of the match; +Inf without one.",
		ConstLabels: prometheus.Labels{"kind": kind, "build": build},
	}, f.age))
	return f
}

// Inc counts a failure.
func (f *failure) Inc() {
	now := time.Now()
	f.last.Store(&now)
	f.Counter.Inc()
}

// age returns the seconds since the last failure.
func (f *failure) age() float64 {
	last := f.last.Load()
	if last == nil {
		return math.Inf(1)
	}
	return time.Since(*last).Seconds()
}

// desyncs are the failures of that kind, by build.
type desyncs struct {
	registry *prometheus.Registry
	total    *prometheus.CounterVec
	mu       sync.Mutex
	builds   map[string]*failure
}

func newDesyncs(r *prometheus.Registry, total *prometheus.CounterVec) *desyncs {
	return &desyncs{registry: r, total: total, builds: make(map[string]*failure)}
}

// of returns the desyncs of a build. A match calls it when it is made, so that its series are there before a desync.
func (d *desyncs) of(build string) *failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.builds[build]
	if f == nil {
		f = newFailure(d.registry, d.total.WithLabelValues(build), "desync", build)
		d.builds[build] = f
	}
	return f
}
