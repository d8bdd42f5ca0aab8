package play

import "github.com/seed-49bee653/samestep/examples/skirmish"

// Aim returns what a click on a pixel would do, as the pointer shows it: "select", "move", "attack", "gather", "build",
// "ping", "forbidden", or "" for nothing. In no mode an order is that of the right button.
func (p *Player) Aim(w *skirmish.World, x, y int64) string {
	at := p.Place(x, y)
	if p.mode != Select {
		return p.aimed(w, x, y)
	}
	under := p.under(w, x, y, anyUnit)
	switch mine, enemy := p.own(w, anyUnit), p.enemy(w); {
	case len(mine) == 0:
	case under != nil && enemy(under) && len(p.own(w, walker)) > 0:
		return "attack"
	case under != nil && p.owns(under) && under.Kind.Building() && !under.Built && len(p.own(w, worker)) > 0:
		return "build"
	case under != nil:
	case p.crystal(w, at) >= 0 && len(p.own(w, gatherer)) > 0:
		return "gather"
	case len(p.own(w, walker)) > 0:
		return "move"
	}
	if under != nil {
		return "select"
	}
	return ""
}

// aimed returns what a click in a mode would do.
func (p *Player) aimed(w *skirmish.World, x, y int64) string {
	switch p.mode {
	case AttackTo, PatrolTo:
		return "attack"
	case GatherAt:
		if p.crystal(w, p.Place(x, y)) < 0 {
			return "forbidden"
		}
	case BuildAt:
		if _, _, fits := p.Ghost(w, x, y); !fits {
			return "forbidden"
		}
	}
	return modeNames[p.mode]
}
