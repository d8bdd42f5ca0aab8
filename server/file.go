package server

import (
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A file is the file of a replay.
type file interface {
	io.WriteCloser
	Sync() error
}

// The operations of samestep_disk_seconds.
const (
	diskWrite = "write"
	diskSync  = "sync"
)

// A timedFile is a file of a replay whose writes and syncs are measured.
type timedFile struct {
	file
	seconds *prometheus.HistogramVec // by operation
	running *operations
}

func (f timedFile) Write(p []byte) (int, error) {
	defer f.measure(diskWrite, f.running.begin())
	return f.file.Write(p)
}

func (f timedFile) Sync() error {
	defer f.measure(diskSync, f.running.begin())
	return f.file.Sync()
}

func (f timedFile) measure(operation string, o *operation) {
	f.running.end(o)
	f.seconds.WithLabelValues(operation).Observe(time.Since(o.began).Seconds())
}

// operations are the writes and syncs that the disk has not answered yet.
type operations struct {
	mu  sync.Mutex
	all map[*operation]struct{}
}

type operation struct{ began time.Time }

func (x *operations) begin() *operation {
	o := &operation{time.Now()}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = make(map[*operation]struct{})
	}
	x.all[o] = struct{}{}
	return o
}

func (x *operations) end(o *operation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, o)
}

// age returns for how long the oldest has waited, or 0 without any.
func (x *operations) age() (oldest time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for o := range x.all {
		oldest = max(oldest, time.Since(o.began))
	}
	return oldest
}
