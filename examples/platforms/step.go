package platforms

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Rules returns the rules of the game.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name:     "platforms",
		Build:    "1",
		Commands: []lockstep.CommandType{lockstep.Type[Move](KindMove, "move"), lockstep.Type[Jump](KindJump, "jump")},
		New:      start,
		Step:     step,
		View:     lockstep.View(see, refuse),
		ViewOf:   viewOf,
		Describe: describe,
	}
}

// step advances the world by one tick.
func step(w *World, c *Config, turn *lockstep.Turn) {
	w.Tick = uint32(turn.Tick) - 1 // the other engine's first frame is 0
	orders := ordered(turn)
	for i := range orders {
		w.obey(&orders[i])
	}
	all := w.obstacles(c)
	for i := range w.Units {
		w.move(i, c, all)
	}
	for i := range w.Units {
		w.trigger(i, c)
	}
	lockstep.Emit(turn, Ticked{orders})
}

// unitBounds returns the sides of a unit.
func (c *Config) unitBounds(u *Unit) bounds { return around(u.X, u.Y, c.UnitWidth, c.UnitHeight) }

// An obstacle is something that units cannot pass, where it is at the start of the tick.
type obstacle struct {
	bounds
	unit int // its index, or -1
}

// obstacles returns the obstacles by ID.
func (w *World) obstacles(c *Config) []obstacle {
	var all []obstacle
	for i := range level {
		if !level[i].Trigger {
			all = append(all, obstacle{level[i].bounds(), -1})
		}
	}
	for i := range w.Units {
		all = append(all, obstacle{c.unitBounds(&w.Units[i]), i})
	}
	return all
}

// move moves a unit by its direction, its jump and its weight.
func (w *World) move(i int, c *Config, all []obstacle) {
	u := &w.Units[i]
	others := slices.DeleteFunc(slices.Clone(all), func(o obstacle) bool { return o.unit == i })
	if u.MoveX != 0 {
		u.walk(c, others)
	}
	grounded := u.grounded(c, others)
	if u.MoveY == 1 && grounded {
		u.VY = c.JumpRiseSpeed
	}
	u.MoveY = 0
	switch {
	case u.VY > 0:
		u.rise(c, others)
	case !grounded:
		u.fall(c, others)
	default:
		u.VY = 0
	}
}

// walk moves a unit sideways. Only the end of the step can hit an obstacle.
func (u *Unit) walk(c *Config, others []obstacle) {
	half := int64(c.UnitWidth / 2)
	now, to := c.unitBounds(u), u.X+int64(u.MoveX)*int64(c.MoveStep)
	for _, o := range others {
		target := bounds{left: to - half, right: to + half}
		if !now.besides(o.bounds) || !target.over(o.bounds) {
			continue
		}
		if to = o.left - half; u.MoveX < 0 {
			to = o.right + half
		}
	}
	u.X = to
}

// grounded reports whether a unit stands on something.
func (u *Unit) grounded(c *Config, others []obstacle) bool {
	at := c.unitBounds(u)
	return slices.ContainsFunc(others, func(o obstacle) bool {
		return at.over(o.bounds) && o.top-at.bottom <= 1 && at.bottom-o.top <= 1
	})
}

// rise moves a unit up by its speed, at most to what is above it.
func (u *Unit) rise(c *Config, others []obstacle) {
	at, to := c.unitBounds(u), u.Y+int64(u.VY)
	for _, o := range others {
		if at.over(o.bounds) && o.bottom > u.Y {
			to = min(to, o.bottom-int64(c.UnitHeight/2))
		}
	}
	if to == u.Y {
		u.VY = 0
	} else {
		u.VY = max(0, u.VY-c.JumpGravity)
	}
	u.Y = to
}

// fall moves a unit down by its speed, at most to what is below it.
func (u *Unit) fall(c *Config, others []obstacle) {
	u.VY = max(-c.FallSpeed, u.VY-c.JumpGravity)
	half := int64(c.UnitHeight / 2)
	at, to := c.unitBounds(u), u.Y+int64(u.VY)
	for _, o := range others {
		if at.over(o.bounds) && o.top <= at.bottom+1 && to-half <= o.top+1 {
			to = max(to, o.top+half)
		}
	}
	u.Y = to
}

// trigger fires the actions of the triggers that a unit has come to touch, and of those that it no longer touches. What it
// touches is decided before an action moves it.
func (w *World) trigger(i int, c *Config) {
	u := &w.Units[i]
	at := c.unitBounds(u)
	before := u.Inside
	var inside []uint32
	for k := range level {
		if level[k].Trigger && at.touches(level[k].bounds()) {
			inside = append(inside, uint32(k)+1)
		}
	}
	u.Inside = inside
	for _, id := range inside {
		if !slices.Contains(before, id) {
			u.act(level[id-1].Enter)
		}
	}
	for _, id := range before {
		if k := id - 1; k < uint32(len(level)) && !slices.Contains(inside, id) {
			u.act(level[k].Exit)
		}
	}
}

// act runs the action of a trigger on a unit.
func (u *Unit) act(action string) {
	switch action {
	case Teleport:
		u.X, u.Y = 0, 0
	case Spawn:
		u.X, u.Y = 5000, 5000
	}
}
