//samestep:deterministic
package good

import "github.com/seed-49bee653/samestep/lockstep"

type World struct {
	Units []uint32
	near  []uint32 `state:"derived"`
}

type Config struct{}

// resize only decides by it what is allocated.
func resize(list []uint32, n int) []uint32 {
	if cap(list) < n {
		return make([]uint32, n)
	}
	return list[:n]
}

func step(w *World, _ *Config, t *lockstep.Turn) { w.near = resize(w.near, len(w.Units)) }

var Rules = lockstep.Rules[World, Config]{Step: step}
