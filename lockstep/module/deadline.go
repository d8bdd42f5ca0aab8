//go:build !js

package module

import (
	"sync"
	"time"
)

// A deadline ends a call or a process that takes longer than it may: as time passes, or by a clock of its own.
type deadline struct {
	passing time.Duration
	work    time.Duration
	clock   func() time.Duration // that counts the work; nil: none is counted
	end     func()

	from  time.Time
	first time.Duration // of the clock
	took  time.Duration // of the clock, after stop

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	late    bool
	byWork  bool // it is late by the clock
}

// begin starts the time.
func (d *deadline) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.from = time.Now(); d.clock != nil {
		d.first = d.clock()
	}
	d.timer = time.AfterFunc(min(d.passing, d.work), d.check)
}

// check ends what takes too long, or waits for as long as it may still take: the clock goes slowly while others have the processor.
func (d *deadline) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	left := d.passing - time.Since(d.from)
	if d.clock != nil {
		worked := d.work - (d.clock() - d.first)
		d.byWork = worked <= 0
		left = min(left, worked)
	}
	if left > 0 {
		d.timer.Reset(left)
		return
	}
	d.late = true
	d.end()
}

// stop ends the time, and tells whether and by what it was over.
func (d *deadline) stop() over {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
	if d.clock != nil {
		d.took = d.clock() - d.first
	}
	switch {
	case !d.late:
		return inTime
	case d.byWork:
		return workOver
	}
	return timeOver
}

// over is which time was over.
type over int

const (
	inTime   over = iota
	timeOver      // that passes
	workOver      // of the clock
)
