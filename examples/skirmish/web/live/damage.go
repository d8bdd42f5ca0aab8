package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/state"
)

// maxDamaged limits the units that are marked.
const maxDamaged = 200

// A damage is a unit that differs from the match.
type damage struct {
	id          skirmish.UnitID
	here, match uint16     // its health, when both states were compared
	off         fixed.Vec2 // from its place here to the one in the match
	replaced    bool       // the match's state has taken the place of the wrong one
}

// planted returns the damages after the user has changed the health of a unit of this client's state. The match's is that before
// the first change.
func planted(all []damage, before, now *skirmish.Unit) []damage {
	d := damage{id: now.ID, here: now.Health, match: before.Health}
	if i := slices.IndexFunc(all, func(d damage) bool { return d.id == now.ID && !d.replaced }); i >= 0 {
		d.match = all[i].match
	}
	if d.here == d.match {
		return nil // changed back
	}
	return []damage{d}
}

// damaged returns the units of a state, which is the match's, that have one of the fields, such as Units[ID=4].Health, or
// Units[3].Health where the two states have different units at an index.
func damaged(w *skirmish.World, fields []state.Difference) (all []damage) {
	for _, f := range fields {
		var index int
		var id skirmish.UnitID
		if n, _ := fmt.Sscanf(f.Path, "Units[ID=%d]", &id); n == 1 {
			index = slices.IndexFunc(w.Units, func(u skirmish.Unit) bool { return u.ID == id })
		} else if n, _ := fmt.Sscanf(f.Path, "Units[%d]", &index); n != 1 {
			continue
		}
		if index < 0 || index >= len(w.Units) {
			continue
		}
		u := &w.Units[index]
		i := slices.IndexFunc(all, func(d damage) bool { return d.id == u.ID })
		if i < 0 {
			if len(all) == maxDamaged {
				continue
			}
			i, all = len(all), append(all, damage{id: u.ID, here: u.Health, match: u.Health, replaced: true})
		}
		all[i].take(&f)
	}
	return all
}

// take takes a field of the unit: A is its value here, and B that of the match.
func (d *damage) take(f *state.Difference) {
	_, field, _ := strings.Cut(f.Path, "].")
	a, errA := fixed.Parse(f.A)
	b, errB := fixed.Parse(f.B)
	switch {
	case field == "Health":
		here, err := strconv.ParseUint(f.A, 10, 16)
		match, err2 := strconv.ParseUint(f.B, 10, 16)
		if err == nil && err2 == nil {
			d.here, d.match = uint16(here), uint16(match)
		}
	case errA != nil || errB != nil:
	case field == "Pos.X":
		d.off.X = b - a
	case field == "Pos.Y":
		d.off.Y = b - a
	}
}

// marksOf returns the marks of the damaged units that are still alive.
func marksOf(w *skirmish.World, all []damage) (marks []scene.Mark) {
	for _, d := range all {
		u := scene.Find(w, d.id)
		if u == nil {
			continue
		}
		m := scene.Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos.Add(d.off), Ghost: true, Health: d.here, OtherHealth: d.match}
		if d.replaced {
			m.At, m.Other = u.Pos.Sub(d.off), u.Pos
		}
		marks = append(marks, m)
	}
	return marks
}

// Corrupt changes a field of this client's state, to demonstrate how a desync is found and repaired: the health of the
// first selected unit, or else of the user's unit that is nearest the middle of what the panel leaves of the screen.
func (g *Game) Corrupt() {
	g.see(func(c *player.Client, _ moment) {
		if c.Simulation() == nil {
			return // views have no state
		}
		w := lockstep.World[skirmish.World](c.Simulation())
		if len(w.Units) == 0 {
			return
		}
		index := g.central(w)
		if selected := g.player.Selected(); len(selected) > 0 {
			index = max(0, slices.IndexFunc(w.Units, func(u skirmish.Unit) bool { return u.ID == selected[0] }))
		}
		before := w.Units[index]
		g.match.CorruptOf(c, fmt.Sprintf("Units[ID=%d].Health", before.ID))
		if now := scene.Find(lockstep.World[skirmish.World](c.Simulation()), before.ID); now != nil {
			g.damaged = planted(g.damaged, &before, now)
		}
	})
}

// central returns the index of the user's unit that is nearest a place left of the middle of the screen, whose right side has the
// panel with the button. It is 0 without one.
func (g *Game) central(w *skirmish.World) (index int) {
	view, best := g.player.View(), int64(-1)
	x, y := (5*int64(view.Left)+3*int64(view.Right))/8, int64(view.MiddleY)
	for i := range w.Units {
		u := &w.Units[i]
		if lockstep.Player(u.Owner) != g.player.Seat {
			continue
		}
		const shift = 32 - scene.PlaceBits
		dx, dy := int64(u.Pos.X>>shift)-x, int64(u.Pos.Y>>shift)-y
		if away := dx*dx + dy*dy; best < 0 || away < best {
			index, best = i, away
		}
	}
	return index
}
