//samestep:deterministic
package bad

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Units []uint32 }

type Config struct{}

func step(w *World, _ *Config, t *lockstep.Turn) {
	defer func() {
		if recover() != nil { // want `memory: `
			w.Units = nil
		}
	}()
	if len(w.Units) == cap(w.Units) { // want `memory: `
		w.Units[0]++
	}
}

var Rules = lockstep.Rules[World, Config]{Step: step}
