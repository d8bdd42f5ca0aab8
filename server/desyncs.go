package server

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/internal/measure"
)

// desyncs are the desyncs by the build of their matches.
type desyncs struct {
	registry *prometheus.Registry
	total    *prometheus.CounterVec
	mu       sync.Mutex
	builds   map[string]*measure.Failure
}

func newDesyncs(r *prometheus.Registry, total *prometheus.CounterVec) *desyncs {
	return &desyncs{registry: r, total: total, builds: make(map[string]*measure.Failure)}
}

// of returns the desyncs of a build. A match calls it when it is made, so that its series are there before a desync.
func (d *desyncs) of(build string) *measure.Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.builds[build]
	if f == nil {
		f = measure.NewFailure(d.total.WithLabelValues(build), "desync", build)
		d.registry.MustRegister(f.Age)
		d.builds[build] = f
	}
	return f
}
