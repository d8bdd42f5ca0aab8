//samestep:deterministic
package bad

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Gold uint32 }

type Config struct{}

// Nobody here implements it.
type Mind interface{ Think(gold uint32) uint32 }

func think(w *World, m Mind) {
	w.Gold = m.Think(w.Gold) // want `unseen: `
}

type hooks struct{ after func(*World) }

func run(w *World, h hooks) {
	h.after(w) // want `unseen: `
}

func Rules(step func(*World, *Config, *lockstep.Turn)) lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Step: step, // want `unseen: `
	}
}
