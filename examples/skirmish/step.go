package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// step advances the world by one tick.
func step(w *World, _ *Config, t *lockstep.Turn) {
	w.Match.Tick = uint32(t.Tick)
	derive(w)
	w.workspace.turn = t
	t.Phase("orders")
	for i := range t.Commands {
		w.obey(&t.Commands[i])
	}
	t.Phase("sense")
	w.sense()
	w.grow()
	t.Phase("survey")
	surveyAll(w, t)
	t.Phase("act")
	for i := range w.Units {
		w.act(i)
	}
	t.Phase("combat")
	w.strike()
	w.cross()
	w.bury()
	t.Phase("births")
	w.bear()
	t.Phase("sight")
	w.look()
	w.regrow()
	t.Phase("end")
	w.surrender()
	w.decide()
	w.sample()
	w.workspace.turn = nil
	w.index() // for readers between two steps
}
