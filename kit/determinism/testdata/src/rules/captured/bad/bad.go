//samestep:deterministic
package bad

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Gold uint32 }

type Config struct{}

func Rules() lockstep.Rules[World, Config] {
	waves := uint32(0)
	return lockstep.Rules[World, Config]{
		Step: func(w *World, _ *Config, t *lockstep.Turn) {
			waves++ // want `captured: `
			w.Gold += waves
		},
		Derive: remembering(),
	}
}

func remembering() func(*World, *Config) {
	seen := map[uint32]bool{}
	return func(w *World, _ *Config) {
		seen[w.Gold] = true // want `captured: `
	}
}

type engine struct{ steps uint32 }

func (e *engine) step(w *World, _ *Config, t *lockstep.Turn) {
	e.steps++
	w.Gold += e.steps
}

func More() lockstep.Rules[World, Config] {
	e := &engine{}
	return lockstep.Rules[World, Config]{
		Step: e.step, // want `captured: `
	}
}
