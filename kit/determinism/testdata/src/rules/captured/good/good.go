//samestep:deterministic
package good

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Gold, Waves uint32 }

type Config struct{}

type engine struct{ prices []uint32 }

func (e *engine) step(w *World, _ *Config, t *lockstep.Turn) {
	w.Waves++
	w.Gold += e.prices[w.Waves%2]
}

func Rules(prices []uint32) lockstep.Rules[World, Config] {
	e := &engine{prices: prices}
	return lockstep.Rules[World, Config]{
		Step:   e.step,
		Derive: capped(prices[0]),
		Validate: func(w *World, _ *Config, c *lockstep.Command) error {
			left := w.Gold
			take := func(n uint32) { left -= min(left, n) }
			take(prices[1])
			return nil
		},
	}
}

func capped(most uint32) func(*World, *Config) {
	return func(w *World, _ *Config) { w.Gold = min(w.Gold, most) }
}
