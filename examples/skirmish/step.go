package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// step advances the world by one tick.
func step(w *World, _ *Config, t *lockstep.Turn) {
	w.Match.Tick = uint32(t.Tick)
	derive(w)
	w.workspace.turn = t
	for i := range t.Commands {
		w.obey(&t.Commands[i])
	}
	w.sense()
	w.grow()
	for i := range w.Units {
		w.act(i)
	}
	w.strike()
	w.cross()
	w.bury()
	w.bear()
	w.look()
	w.regrow()
	w.surrender()
	w.decide()
	w.workspace.turn = nil
	w.index() // for readers between two steps
}
