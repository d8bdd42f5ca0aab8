package scene

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// The kinds of effects.
const (
	Strike   int32 = 1 + iota // a melee hit
	Arrow                     // a flying shot
	Puff                      // a unit died
	Ruin                      // a building was destroyed
	Done                      // a building was completed
	Spark                     // a zone had an effect
	Way                       // from a selected unit to its goal
	Assault                   // the same, with fighting
	Ping                      // a player shows a place to the team
	Moved                     // the target of an order to go somewhere
	Attacked                  // of one to fight
	Gathered                  // of one to mine
	Built                     // of one to build
	Glow                      // a unit that differs, see Mark
	Shade                     // the same unit in the other state
	Ghost                     // its picture; the second place is its health there and here
)

// lasting is the number of ticks that an effect is shown, by kind.
var lasting = [...]uint32{Strike: 4, Arrow: 6, Puff: 14, Ruin: 40, Done: 20, Spark: 16, Ping: 80, Moved: 12, Attacked: 12, Gathered: 12, Built: 12}

// maxEffects limits the kept effects; the oldest are dropped.
const maxEffects = 1024

// Effects keeps recent events for as long as they are shown.
type Effects struct {
	list []effect
	next int // the oldest, once the list is full

	ordered effect // the latest order
}

type effect struct {
	sort     int32
	owner    uint8
	tick     uint32
	from, to fixed.Vec2
}

// Observe adds an event of the game; w is the state of its tick.
func (e *Effects) Observe(w *skirmish.World, event any) {
	at := w.Match.Tick
	switch v := event.(type) {
	case skirmish.Shot:
		by, target := Find(w, v.By), Find(w, v.At)
		if by == nil || target == nil {
			return
		}
		sort := Arrow
		if by.Kind == skirmish.Soldier || by.Kind == skirmish.Worker {
			sort = Strike
		}
		e.add(effect{sort, by.Owner, at, by.Pos, target.Pos})
	case skirmish.Death:
		sort := Puff
		if v.Kind.Building() {
			sort = Ruin
		}
		e.add(effect{sort, v.Owner, at, v.At, v.At})
	case skirmish.BuildingDone:
		e.add(effect{Done, v.Owner, at, v.At, v.At})
	case skirmish.Trained:
		if u := Find(w, v.Unit); u != nil {
			e.add(effect{Done, v.Owner, at, u.Pos, u.Pos})
		}
	case skirmish.Pinged:
		e.add(effect{Ping, v.By, at, v.At, v.At})
	case skirmish.Entered:
		if u := Find(w, v.Unit); u != nil && v.Kind != skirmish.Spawn {
			e.add(effect{Spark, u.Owner, at, u.Pos, u.Pos})
		}
	}
}

// Order adds the target of a command that the user gives at a tick; w is the state that the user sees. Others see nothing of it.
func (e *Effects) Order(w *skirmish.World, tick lockstep.Tick, command any) {
	f := effect{tick: uint32(tick)}
	switch c := command.(type) {
	case *skirmish.Move:
		f.sort, f.to = Moved, c.To.Vec2()
	case *skirmish.AttackMove:
		f.sort, f.to = Attacked, c.To.Vec2()
	case *skirmish.Patrol:
		f.sort, f.to = Attacked, c.To.Vec2()
	case *skirmish.Build:
		f.sort, f.to = Built, c.At.Vec2()
	case *skirmish.Attack:
		target := Find(w, c.Target)
		if target == nil {
			return
		}
		f.sort, f.to = Attacked, target.Pos
	case *skirmish.Gather:
		if int(c.Crystal) >= len(w.Crystals) {
			return
		}
		f.sort, f.to = Gathered, w.Crystals[c.Crystal].Pos
	default:
		return
	}
	f.from = f.to
	if f != e.ordered { // a large army takes several commands
		e.add(f)
	}
	e.ordered = f
}

func (e *Effects) add(f effect) {
	if len(e.list) < maxEffects {
		e.list = append(e.list, f)
		return
	}
	e.list[e.next] = f
	e.next = (e.next + 1) % maxEffects
}

// Clear drops all effects, for example after a jump.
func (e *Effects) Clear() { e.list, e.next = e.list[:0], 0 }

// effects writes the visible effects on the screen.
func effects(dst []byte, w *skirmish.World, f player.Fraction, v *View) ([]byte, uint32) {
	n := uint32(0)
	if v.Ways {
		dst, n = ways(dst, w, v)
	}
	if v.Effects == nil {
		return dst, n
	}
	now := w.Match.Tick
	if v.Now != 0 {
		now = v.Now
	}
	for i := range v.Effects.list {
		e := &v.Effects.list[i]
		ticks := lasting[e.sort]
		since := now - e.tick
		if since >= ticks || !v.reveals(w, e) {
			continue // it is over, or of a future tick, where since wraps around
		}
		age := int32((uint64(since)<<16 + uint64(f)) * 255 / (uint64(ticks) << 16))
		dst = put(dst, e.sort|int32(e.owner)<<8|min(age, 255)<<16, place(e.from.X), place(e.from.Y), place(e.to.X), place(e.to.Y))
		n++
	}
	return dst, n
}

// reveals reports whether an effect is drawn. Calls to allies are drawn wherever they are, for the minimap.
func (v *View) reveals(w *skirmish.World, e *effect) bool {
	switch {
	case e.sort == Ping:
		return v.Team == Everything || int(e.owner) < len(w.Players) && w.Players[e.owner].Team == v.Team
	case !v.shows(place(e.from.X), place(e.from.Y)):
		return false
	}
	return e.sort >= Moved || v.seen(e.from) || v.seen(e.to)
}

// maxWays limits the number of selected units whose way is drawn.
const maxWays = 60

func ways(dst []byte, w *skirmish.World, v *View) ([]byte, uint32) {
	n := uint32(0)
	for _, id := range v.Selected[:min(len(v.Selected), maxWays)] {
		u := Find(w, id)
		if u == nil || u.Owner != v.Player || u.Goal == u.Pos || u.Task == skirmish.Idle && !u.Kind.Building() {
			continue
		}
		sort := Way
		if u.Task == skirmish.AttackMoving || u.Task == skirmish.Attacking || u.Task == skirmish.Patrolling {
			sort = Assault
		}
		dst = put(dst, sort|int32(u.Owner)<<8, place(u.Pos.X), place(u.Pos.Y), place(u.Goal.X), place(u.Goal.Y))
		n++
	}
	return dst, n
}
