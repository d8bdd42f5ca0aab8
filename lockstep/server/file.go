package server

import (
	"io"
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
}

func (f timedFile) Write(p []byte) (int, error) {
	defer f.measure(diskWrite, time.Now())
	return f.file.Write(p)
}

func (f timedFile) Sync() error {
	defer f.measure(diskSync, time.Now())
	return f.file.Sync()
}

func (f timedFile) measure(operation string, began time.Time) {
	f.seconds.WithLabelValues(operation).Observe(time.Since(began).Seconds())
}
