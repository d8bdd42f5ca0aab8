package logbench

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// endless returns the rules of skirmish for matches that go on as long as they are
// measured. Buildings and workers heal in each tick, so they do not fall. Soldiers and
// archers heal by 8, so they fall where many fight, and each player can pay for new ones.
// step is the Step of skirmish, or measures it.
func endless(step func(*skirmish.World, *skirmish.Config, *lockstep.Turn)) lockstep.Rules[skirmish.World, skirmish.Config] {
	rules := skirmish.Rules()
	rules.Build += " endless"
	rules.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		for i := range w.Units {
			u := &w.Units[i]
			switch most := u.Kind.Traits().Health; {
			case !u.Built:
			case u.Kind.Building() || u.Kind == skirmish.Worker:
				u.Health = most
			default:
				u.Health = min(u.Health+8, most)
			}
		}
		for i := range w.Players {
			w.Players[i].Crystals = max(w.Players[i].Crystals, 1000)
		}
		step(w, config, t)
	}
	return rules
}
