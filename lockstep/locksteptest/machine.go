package locksteptest

import (
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A setting is one of the runtime that a simulation must not notice.
type setting struct {
	processors int // GOMAXPROCS
	gcPercent  int
	collect    bool // all garbage, at every so many ticks
}

var settings = [...]setting{{1, 400, true}, {8, 20, false}}

// changing is held by who has changed the settings of the whole program.
var changing sync.Mutex

// machine computes the match under other settings of the Go runtime.
func (m *match) machine() error {
	changing.Lock()
	defer changing.Unlock()
	for _, s := range settings {
		if err := m.under(s); err != nil {
			return err
		}
	}
	return nil
}

func (m *match) under(s setting) error {
	processors := runtime.GOMAXPROCS(s.processors)
	defer runtime.GOMAXPROCS(processors)
	percent := debug.SetGCPercent(s.gcPercent)
	defer debug.SetGCPercent(percent)

	sim, err := m.game.NewSimulation(m.header)
	if err != nil {
		return m.fail("machine", 0, 0, err)
	}
	if err := m.compare("machine", 0, sim, m.states[0]); err != nil {
		return err
	}
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		if s.collect && t%m.options.Every == 0 {
			runtime.GC()
		}
		if err := sim.Step(&m.frames[t-1]); err != nil {
			return m.fail("machine", 0, t, err)
		}
		if err := m.compare("machine", 0, sim, m.states[t]); err != nil {
			return err
		}
	}
	return nil
}
