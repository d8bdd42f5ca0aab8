package locksteptest

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// A setting is one of the runtime that a simulation must not notice.
type setting struct {
	processors int // GOMAXPROCS
	gcPercent  int
	collect    bool // all garbage, every Options.Every ticks
}

var settings = [...]setting{{1, 400, true}, {8, 20, false}}

// changing is locked while the settings of the whole program are changed.
var changing sync.Mutex

// machine computes the match under other settings of the Go runtime.
func (r *trial) machine() {
	changing.Lock()
	defer changing.Unlock()
	for _, s := range settings {
		r.under(s)
	}
}

func (r *trial) under(s setting) {
	processors := runtime.GOMAXPROCS(s.processors)
	defer runtime.GOMAXPROCS(processors)
	percent := debug.SetGCPercent(s.gcPercent)
	defer debug.SetGCPercent(percent)

	sim := r.simulation()
	r.same(sim)
	for t := range r.options.Ticks {
		if s.collect && (t+1)%r.options.Every == 0 {
			runtime.GC()
		}
		r.step(sim, t)
		r.same(sim)
	}
}
