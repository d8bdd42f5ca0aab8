package play

import (
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
)

// slack is how far from a unit a click still hits it, in pixels.
const slack = 6

// Click selects the unit under a pixel, or clears the selection. Add adds the unit, or removes it if it was selected.
// Twice selects all units of its kind on the screen.
func (p *Player) Click(w *skirmish.World, x, y int64, add, twice bool) {
	u := p.under(w, x, y, anyUnit)
	p.menu = false
	switch {
	case u == nil:
		if !add {
			p.selected = nil
		}
	case !p.owns(u):
		p.selected = []skirmish.UnitID{u.ID}
	case twice:
		p.selectWhere(w, add, func(o *skirmish.Unit) bool { return o.Kind == u.Kind && p.onScreen(o) })
	case add && slices.Contains(p.selected, u.ID):
		p.selected = slices.DeleteFunc(p.selected, func(id skirmish.UnitID) bool { return id == u.ID })
	default:
		p.selectWhere(w, add, func(o *skirmish.Unit) bool { return o.ID == u.ID })
	}
}

// Drag selects the player's units in a box of the screen; buildings only if there are no others.
func (p *Player) Drag(w *skirmish.World, x0, y0, x1, y1 int64, add bool) {
	a, b := p.Place(min(x0, x1), min(y0, y1)), p.Place(max(x0, x1), max(y0, y1))
	in := func(u *skirmish.Unit) bool {
		r := u.Kind.Traits().Radius
		return u.Pos.X+r >= a.X && u.Pos.X-r <= b.X && u.Pos.Y+r >= a.Y && u.Pos.Y-r <= b.Y
	}
	if !p.selectWhere(w, add, func(u *skirmish.Unit) bool { return !u.Kind.Building() && in(u) }) {
		p.selectWhere(w, add, in)
	}
}

// SelectArmy selects all of the player's soldiers and archers.
func (p *Player) SelectArmy(w *skirmish.World) { p.selectWhere(w, false, fighter) }

// NextIdle selects the next idle worker and moves the camera there.
func (p *Player) NextIdle(w *skirmish.World) {
	for n := range w.Units {
		i := (p.idle + n) % len(w.Units)
		if u := &w.Units[i]; p.owns(u) && worker(u) && u.Task == skirmish.Idle {
			p.idle = i + 1
			p.selected = []skirmish.UnitID{u.ID}
			p.LookAt(u.Pos)
			return
		}
	}
	p.problem = "no worker is idle"
}

// Recall selects a control group; twice also moves the camera there.
func (p *Player) Recall(w *skirmish.World, group uint8, twice bool) {
	if !p.selectWhere(w, false, func(u *skirmish.Unit) bool { return u.Group == group }) || !twice {
		return
	}
	u := scene.Find(w, p.selected[len(p.selected)/2])
	p.LookAt(u.Pos)
}

// Assign makes the selected units a control group, or adds them to the group.
func (p *Player) Assign(w *skirmish.World, group uint8, add bool) []any {
	ids := p.own(w, anyUnit)
	if len(ids) == 0 {
		return nil
	}
	var commands []any
	for part := range slices.Chunk(ids, skirmish.MaxListed) {
		commands = append(commands, &skirmish.Assign{Group: group, Add: add || len(commands) > 0, Units: part})
	}
	return p.allowed(w, commands...)
}

// NextKind selects the units of the next kind among those that were selected together, and all of them after the last kind.
// It reports false if they are of one kind.
func (p *Player) NextKind(w *skirmish.World) bool {
	if p.kind == skirmish.NoUnit || len(p.selected) == 0 || slices.ContainsFunc(p.selected, func(id skirmish.UnitID) bool { return !contains(p.whole, id) }) {
		p.whole, p.kind = p.own(w, anyUnit), skirmish.NoUnit
	}
	next, kinds := skirmish.NoUnit, 0
	for k := skirmish.Worker; k.Traits().MadeBy != skirmish.NoUnit; k++ {
		if slices.ContainsFunc(p.whole, func(id skirmish.UnitID) bool { u := scene.Find(w, id); return u != nil && u.Kind == k }) {
			kinds++
			if k > p.kind && next == skirmish.NoUnit {
				next = k
			}
		}
	}
	if kinds < 2 {
		return false
	}
	p.kind, p.mode, p.menu = next, Select, false
	p.selected = slices.DeleteFunc(slices.Clone(p.whole), func(id skirmish.UnitID) bool {
		u := scene.Find(w, id)
		return u == nil || next != skirmish.NoUnit && u.Kind != next
	})
	return true
}

// contains reports whether an ID is in an ascending list.
func contains(ids []skirmish.UnitID, id skirmish.UnitID) bool {
	_, found := slices.BinarySearch(ids, id)
	return found
}

// Clear ends a mode, leaves the menu of buildings, or else clears the selection.
func (p *Player) Clear() {
	if p.mode != Select || p.menu {
		p.mode, p.menu = Select, false
		return
	}
	p.selected = nil
}

// selectWhere selects the player's units that fit, or adds them to the selection. It reports whether there are any.
func (p *Player) selectWhere(w *skirmish.World, add bool, fits func(*skirmish.Unit) bool) bool {
	p.mode, p.menu = Select, false
	var ids []skirmish.UnitID
	for i := range w.Units {
		if u := &w.Units[i]; p.owns(u) && fits(u) {
			ids = append(ids, u.ID)
		}
	}
	found := len(ids) > 0
	if add {
		ids = append(ids, p.own(w, anyUnit)...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	p.selected = ids
	return found
}

// under returns the nearest visible unit under a pixel that fits, or nil.
func (p *Player) under(w *skirmish.World, x, y int64, fits func(*skirmish.Unit) bool) *skirmish.Unit {
	at := p.Place(x, y)
	more := fixed.Q(p.cells(slack)) << (32 - scene.PlaceBits)
	var best *skirmish.Unit
	nearest := fixed.MaxQ
	for i := range w.Units {
		u := &w.Units[i]
		r := u.Kind.Traits().Radius + more
		dx, dy := u.Pos.X-at.X, u.Pos.Y-at.Y
		if dx > r || dx < -r || dy > r || dy < -r || !fits(u) || !p.sees(w, u) {
			continue
		}
		d := u.Pos.Sub(at).Len() - u.Kind.Traits().Radius
		if d <= more && d < nearest {
			best, nearest = u, d
		}
	}
	return best
}

func (p *Player) onScreen(u *skirmish.Unit) bool {
	x, y := p.Pixel(u.Pos)
	return x >= 0 && y >= 0 && x < p.Width && y < p.Height
}

// Tap is a touch: it selects an own unit, or else gives the selected units an order.
func (p *Player) Tap(w *skirmish.World, x, y int64) []any {
	u := p.under(w, x, y, anyUnit)
	mine := len(p.own(w, anyUnit)) > 0
	switch {
	case u != nil && p.owns(u) && u.Kind.Building() && !u.Built && len(p.own(w, worker)) > 0:
		return p.Act(w, x, y, false)
	case u != nil && (p.owns(u) || !mine):
		p.Click(w, x, y, false, slices.Contains(p.selected, u.ID))
	case mine:
		return p.Act(w, x, y, false)
	default:
		p.selected = nil
	}
	return nil
}
