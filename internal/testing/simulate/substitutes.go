package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// substitutes are the bots of players whose seats are taken over, if the plan has them.
type substitutes struct {
	made   int          // of all bots
	fault  string       // the one in force; "": none
	played map[int]bool // seats that were taken over
}

// substitute returns the option of the Host.
func (w *world) substitute() func(lockstep.Player) lockstep.Bot {
	if !w.plan.Host.Substitute || w.plan.Host.Relay {
		return nil
	}
	return func(p lockstep.Player) lockstep.Bot {
		w.substitutes.made++
		play := w.subject.Play(p, stream(w.plan.Seed, "substitute", w.substitutes.made))
		w.count("substitute")
		return func(s *lockstep.Simulation) []any {
			switch w.substitutes.fault {
			case "substitute: panics":
				panic("a fault of the plan")
			case "substitute: nonsense":
				return append(play(s), w)
			case "substitute: flood":
				if s.Tick()%64 == 8*lockstep.Tick(p)%64 { // one at a time, because clients have little room
					return w.flood(play(s))
				}
			}
			if !w.chaos || s.Tick()%4 > 0 {
				return nil
			}
			return play(s)
		}
	}
}

// bots returns the bots of the last seats.
func (w *world) bots() []lockstep.Bot {
	if w.plan.Host.Bots == 0 {
		return nil
	}
	all := make([]lockstep.Bot, w.plan.Settings.Players)
	for p := len(all) - w.plan.Host.Bots; p < len(all); p++ {
		all[p] = w.subject.Play(lockstep.Player(p), stream(w.plan.Seed, "bot", p))
	}
	return all
}

// flood repeats commands more often than a Host takes them.
func (w *world) flood(values []any) (all []any) {
	for len(values) > 0 && len(all) < 300 {
		all = append(all, values...)
	}
	return all
}

// substituted follows an event of a substitute.
func (w *world) substituted(e *host.Event) {
	switch e.Kind {
	case host.PeerTakenOver:
		w.substitutes.played[int(e.Player)] = true
	case host.SubstituteFailed:
		w.count("substitute failed")
		if w.substitutes.fault == "" {
			w.fail("I10", "the substitute of player %d has failed: %s", e.Player, e.Text)
		}
	}
}
