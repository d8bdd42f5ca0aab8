package scene

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// units writes the units on the screen.
func (p *Painter) units(dst []byte, previous, current *skirmish.World, f player.Fraction, v *View) ([]byte, uint32) {
	n, before, facings, selected := uint32(0), previous.Units, p.facing, v.Selected
	for i := range current.Units {
		u := &current.Units[i]
		for len(before) > 0 && before[0].ID < u.ID {
			before = before[1:]
		}
		for len(facings) > 0 && facings[0].id < u.ID {
			facings = facings[1:]
		}
		for len(selected) > 0 && selected[0] < u.ID {
			selected = selected[1:]
		}
		if !v.shows(place(u.Pos.X), place(u.Pos.Y)) || !v.knows(u) {
			continue
		}
		at, flags := u.Pos, int32(0)
		if len(before) > 0 && before[0].ID == u.ID {
			at = between(before[0].Pos, u.Pos, f)
			if before[0].Pos != u.Pos {
				flags |= Walking
			}
			if before[0].Health > u.Health {
				flags |= Hurt
			}
		}
		if len(selected) > 0 && selected[0] == u.ID {
			flags |= Selected
		}
		heading := int32(0)
		if len(facings) > 0 && facings[0].id == u.ID {
			heading = int32(facings[0].heading)
		}
		t := u.Kind.Traits()
		look := int32(u.Kind) | int32(u.Owner)<<8 | (flags|standing(u))<<16 | heading<<24
		dst = put(dst, place(at.X), place(at.Y), int32(u.ID), look, share(uint32(u.Health), uint32(t.Health)), work(u))
		n++
	}
	return dst, n
}

// between returns a place between two places, or the second one if no unit walks that far in a tick.
func between(a, b fixed.Vec2, f player.Fraction) fixed.Vec2 {
	if dx, dy := b.X-a.X, b.Y-a.Y; dx > teleported || dx < -teleported || dy > teleported || dy < -teleported {
		return b
	}
	return fixed.Vec2{X: player.Lerp(a.X, b.X, f), Y: player.Lerp(a.Y, b.Y, f)}
}

// standing returns the flags that one state tells.
func standing(u *skirmish.Unit) (flags int32) {
	if !u.Built && u.Kind.Building() {
		flags |= Unbuilt
	}
	if u.Cargo > 0 {
		flags |= Loaded
	}
	if u.Target != 0 && u.Kind != skirmish.Worker {
		flags |= Fighting
	}
	if u.Kind == skirmish.Worker && (u.Task == skirmish.Gathering && u.Work > 0 || u.Task == skirmish.Constructing) {
		flags |= Working
	}
	return flags
}

// work returns how far a building has come with what it makes, or with itself; and of another unit, the part of the time that
// is left to its next hit.
func work(u *skirmish.Unit) int32 {
	switch {
	case !u.Kind.Building():
		return share(uint32(u.Cooldown), uint32(u.Kind.Traits().Cooldown))
	case !u.Built:
		ticks := uint32(u.Kind.Traits().Ticks)
		return share(ticks-min(uint32(u.Work), ticks), ticks)
	case u.Queue > 0:
		ticks := uint32(u.Making.Traits().Ticks)
		return share(ticks-min(uint32(u.Work), ticks), ticks) | int32(u.Making)<<16 | int32(u.Queue)<<24
	}
	return 0
}

// face notes where the units look: where they go, or at what they fight.
func (p *Painter) face(previous, current *skirmish.World) {
	tick := lockstep.Tick(current.Match.Tick)
	if p.turned && p.tick == tick {
		return
	}
	p.tick, p.turned = tick, true
	p.before, p.facing = p.facing, p.before[:0]
	was, before := p.before, previous.Units
	for i := range current.Units {
		u := &current.Units[i]
		for len(was) > 0 && was[0].id < u.ID {
			was = was[1:]
		}
		for len(before) > 0 && before[0].ID < u.ID {
			before = before[1:]
		}
		look := facing{id: u.ID, heading: uint8(u.ID * 97)}
		if len(was) > 0 && was[0].id == u.ID {
			look.heading = was[0].heading
		}
		var way fixed.Vec2
		if len(before) > 0 && before[0].ID == u.ID {
			way = u.Pos.Sub(before[0].Pos)
		}
		if u.Target != 0 && u.Kind != skirmish.Worker {
			if t := Find(current, u.Target); t != nil {
				way = t.Pos.Sub(u.Pos)
			}
		}
		if way != (fixed.Vec2{}) {
			look.heading = uint8(way.Heading() >> 24)
		}
		p.facing = append(p.facing, look)
	}
}

// Find returns the living unit with an ID, or nil.
func Find(w *skirmish.World, id skirmish.UnitID) *skirmish.Unit {
	i, found := slices.BinarySearchFunc(w.Units, id, func(u skirmish.Unit, id skirmish.UnitID) int { return cmp.Compare(u.ID, id) })
	if !found {
		return nil
	}
	return &w.Units[i]
}
