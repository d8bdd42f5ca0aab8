package play

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
)

// Act is a right-click: move, attack, gather or help to build. A queued order follows the present one. In a mode it
// only ends the mode.
func (p *Player) Act(w *skirmish.World, x, y int64, queued bool) []any {
	at, all := p.Place(x, y), p.own(w, anyUnit)
	p.menu = false
	if p.mode != Select {
		p.mode = Select
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	if enemy := p.under(w, x, y, p.enemy(w)); enemy != nil {
		if ids := p.own(w, walker); len(ids) > 0 {
			return p.assault(w, ids, enemy, queued)
		}
	}
	site := p.under(w, x, y, func(u *skirmish.Unit) bool { return p.owns(u) && u.Kind.Building() && !u.Built })
	if ids := p.own(w, worker); site != nil && len(ids) > 0 {
		return p.order(w, ids, func(who skirmish.Who) any {
			return &skirmish.Build{Who: who, Kind: site.Kind, At: skirmish.PointAt(site.Pos)}
		})
	}
	if crystal := p.crystal(w, at); crystal >= 0 && len(p.own(w, gatherer)) > 0 {
		return p.gather(w, crystal, at)
	}
	return p.order(w, all, func(who skirmish.Who) any {
		return &skirmish.Move{Who: who, To: skirmish.PointAt(at), Queued: queued}
	})
}

// assault sends units to attack an enemy, or to the place of a building that nobody sees now: it may be gone.
func (p *Player) assault(w *skirmish.World, ids []skirmish.UnitID, enemy *skirmish.Unit, queued bool) []any {
	return p.order(w, ids, func(who skirmish.Who) any {
		if team := p.Team(w); team != scene.Everything && !w.Sees(team, enemy.Pos) {
			return &skirmish.AttackMove{Who: who, To: skirmish.PointAt(enemy.Pos), Queued: queued}
		}
		return &skirmish.Attack{Who: who, Target: enemy.ID}
	})
}

// gather sends workers and bases to a crystal, and moves the others there.
func (p *Player) gather(w *skirmish.World, crystal int, at fixed.Vec2) []any {
	commands := p.order(w, p.own(w, gatherer), func(who skirmish.Who) any {
		return &skirmish.Gather{Who: who, Crystal: uint16(crystal)}
	})
	return append(commands, p.order(w, p.own(w, nongatherer), func(who skirmish.Who) any {
		return &skirmish.Move{Who: who, To: skirmish.PointAt(at)}
	})...)
}

// Target is a left-click in a mode: it gives the order of the mode. The mode ends, unless the order is queued.
func (p *Player) Target(w *skirmish.World, x, y int64, queued bool) []any {
	at := p.Place(x, y)
	to, ids, mode := skirmish.PointAt(at), p.own(w, walker), p.mode
	if mode == BuildAt {
		return p.place(w, at, queued)
	}
	if !queued {
		p.mode = Select
	}
	if mode == PingAt {
		return p.Ping(w, x, y)
	}
	if mode == MoveTo || mode == AttackTo {
		ids = p.own(w, anyUnit) // a building's new units go there
	}
	if len(ids) == 0 {
		return nil
	}
	switch mode {
	case MoveTo:
		return p.order(w, ids, func(who skirmish.Who) any { return &skirmish.Move{Who: who, To: to, Queued: queued} })
	case AttackTo:
		if enemy := p.under(w, x, y, p.enemy(w)); enemy != nil {
			return p.assault(w, ids, enemy, queued)
		}
		return p.order(w, ids, func(who skirmish.Who) any { return &skirmish.AttackMove{Who: who, To: to, Queued: queued} })
	case PatrolTo:
		return p.order(w, ids, func(who skirmish.Who) any { return &skirmish.Patrol{Who: who, To: to} })
	case GatherAt:
		if crystal := p.crystal(w, at); crystal >= 0 {
			return p.gather(w, crystal, at)
		}
		p.problem = "there are no crystals"
	}
	return nil
}

// Ping shows the place under a pixel to the player's team.
func (p *Player) Ping(w *skirmish.World, x, y int64) []any {
	if int(p.Seat) >= len(w.Players) {
		return nil
	}
	return p.allowed(w, &skirmish.Ping{At: skirmish.PointAt(p.Place(x, y))})
}

// site rounds the place of a building to quarters of a cell.
func site(at fixed.Vec2) fixed.Vec2 {
	const grain = fixed.One / 4
	return fixed.Vec2{X: (at.X + grain/2) / grain * grain, Y: (at.Y + grain/2) / grain * grain}
}

// place orders a building.
func (p *Player) place(w *skirmish.World, at fixed.Vec2, queued bool) []any {
	ids := p.own(w, worker)
	if len(ids) == 0 {
		p.mode = Select
		return nil
	}
	commands := p.order(w, ids, func(who skirmish.Who) any {
		return &skirmish.Build{Who: who, Kind: p.building, At: skirmish.PointAt(site(at))}
	})
	if len(commands) > 0 && !queued {
		p.mode = Select
	}
	return commands
}

// Ghost returns the building that a click would place: its kind (0 for none), its place, and whether it fits there.
func (p *Player) Ghost(w *skirmish.World, x, y int64) (kind skirmish.UnitKind, at fixed.Vec2, fits bool) {
	if p.mode != BuildAt {
		return 0, at, false
	}
	at = site(p.Place(x, y))
	ids := p.own(w, worker)
	if len(ids) == 0 {
		return 0, at, false
	}
	err := skirmish.Judge(w, p.Seat)(&skirmish.Build{Who: skirmish.Who{Units: ids[:1]}, Kind: p.building, At: skirmish.PointAt(at)})
	return p.building, at, err == nil
}

// Do presses a button of the panel: "stop", "hold", "train:KIND", "menu" of buildings, "back" from it, the name of a mode, such as "attack" or "build:KIND", or one of
// the [Affairs], such as "propose:PLAYER". It returns the commands to submit at once.
func (p *Player) Do(w *skirmish.World, action string) []any {
	name, kind, _ := strings.Cut(action, ":")
	p.menu = name == "menu"
	switch name {
	case "stop":
		p.mode = Select
		return p.order(w, p.own(w, anyUnit), func(who skirmish.Who) any { return &skirmish.Stop{Who: who} })
	case "hold":
		p.mode = Select
		return p.order(w, p.own(w, walker), func(who skirmish.Who) any { return &skirmish.Hold{Who: who} })
	case "menu", "back":
		p.mode = Select
	case "train":
		return p.train(w, kindNamed(kind))
	case "build":
		k := kindNamed(kind)
		if price := k.Traits().Cost; int(p.Seat) < len(w.Players) && w.Players[p.Seat].Crystals < price {
			p.problem, p.menu = "that costs more than you have", true
			return nil
		}
		p.mode, p.building = BuildAt, k
	case "propose", "withdraw", "accept", "break", "surrender", "permit":
		if c := p.decision(w, name, kind); c != nil {
			return p.allowed(w, c)
		}
	default:
		if mode := slices.Index(modeNames[1:], name); mode >= 0 {
			p.mode = Mode(mode + 1)
		}
	}
	return nil
}

// train trains a unit in the selected building with the shortest queue.
func (p *Player) train(w *skirmish.World, kind skirmish.UnitKind) []any {
	var best *skirmish.Unit
	p.problem = fmt.Sprintf("only a complete %s trains that", kind.Traits().MadeBy)
	for _, id := range p.selected {
		u := scene.Find(w, id)
		if u == nil || !p.owns(u) || u.Kind != kind.Traits().MadeBy || !u.Built {
			continue
		}
		if u.Queue > 0 && u.Making != kind {
			p.problem = fmt.Sprintf("the %s trains another kind of unit: wait for its queue, or cancel it", u.Kind)
			continue
		}
		if best == nil || u.Queue < best.Queue {
			best = u
		}
	}
	if best == nil {
		return nil
	}
	p.problem = ""
	return p.allowed(w, &skirmish.Train{Building: best.ID, Kind: kind, Count: 1})
}

// kindNamed returns the kind with a name, or NoUnit.
func kindNamed(name string) skirmish.UnitKind {
	for k := skirmish.Worker; k.Traits().MadeBy != 0; k++ {
		if k.String() == name {
			return k
		}
	}
	return skirmish.NoUnit
}

// enemy returns a filter for the player's enemies.
func (p *Player) enemy(w *skirmish.World) func(*skirmish.Unit) bool {
	team := p.Team(w)
	return func(u *skirmish.Unit) bool { return u.Team != team }
}

// crystal returns the index of the known crystal at a place, or -1.
func (p *Player) crystal(w *skirmish.World, at fixed.Vec2) int {
	for i := range w.Crystals {
		if w.Crystals[i].Pos.InRange(at, fixed.One) && w.Knows(p.Team(w), w.Crystals[i].Pos) {
			return i
		}
	}
	return -1
}
