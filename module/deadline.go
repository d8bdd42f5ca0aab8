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
	budget  *Budget              // bounds the work, too, and counts it; nil: none
	end     func()

	from  time.Time
	first time.Duration // of the clock
	spent time.Duration // of the budget so far
	took  time.Duration // of the clock, after stop

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	late    bool
	byWork  bool // it is late by the clock
}

func (d *deadline) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.from = time.Now(); d.clock != nil {
		d.first = d.clock()
	}
	d.timer = time.AfterFunc(d.until(min(d.passing, d.work)), d.check)
}

// countEvery is how often a long call counts in its budget, which others spend meanwhile.
const countEvery = time.Second

func (d *deadline) until(left time.Duration) time.Duration {
	if d.budget != nil {
		return min(left, countEvery)
	}
	return left
}

// count counts the work so far, and returns how much of it is left.
func (d *deadline) count() (left time.Duration) {
	d.took = d.clock() - d.first
	if d.budget == nil {
		return d.work - d.took
	}
	d.budget.spend(d.took - d.spent)
	d.spent = d.took
	return d.budget.left()
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
		work := d.count()
		d.byWork = work <= 0
		left = min(left, work)
	}
	if left > 0 {
		d.timer.Reset(d.until(left))
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
		d.count()
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
