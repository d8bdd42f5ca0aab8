//samestep:deterministic
package good

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Gold uint32 }

type Config struct{}

type Mind interface{ Think(gold uint32) uint32 }

type miser struct{}

func (miser) Think(gold uint32) uint32 { return gold + 1 }

func think(w *World, m Mind) { w.Gold = m.Think(w.Gold) }

type hooks struct{ after func(*World) }

var standard = hooks{after: func(w *World) { w.Gold++ }}

func run(w *World) { standard.after(w) }

func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Step: func(w *World, _ *Config, t *lockstep.Turn) {
			think(w, miser{})
			run(w)
		},
	}
}
