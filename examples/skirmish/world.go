package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A World is the state of a match. Each of its fields is a section of the checksum, so that a desync's section tells
// which part of the rules went apart.
type World struct {
	Match     Match
	Rand      fixed.Rand // drawn from by what happens to the world; units draw statelessly from Match.Seed
	Config    Config
	Map       Map
	Players   []Player
	Fog       []Fog // by team
	Crystals  []Crystal
	Zones     []Zone
	Paths     Paths
	Units     []Unit    // by ID, ascending
	workspace workspace `state:"derived"`
}

// A Match is the course of the match.
type Match struct {
	Seed   uint64
	Tick   uint32
	NextID UnitID
	Ended  uint32 // tick at which the match was won, 0 before
	Winner uint8  // 1 + team that has won
}

// A Player is one seat's account.
type Player struct {
	Crystals  uint32
	Gathered  uint32
	Kills     uint32
	Losses    uint32
	Units     uint16 // alive, buildings among them
	Buildings uint16
	Team      uint8
	Status    Status
}

// A Status is how a player takes part.
type Status uint8

// The states of a player. An absent player's units finish what they do and defend themselves.
const (
	Playing Status = iota
	Absent         // the connection is lost
	Defeated
)

// workspace is memory that Step uses again every tick, and caches of what the state implies.
type workspace struct {
	ids       []UnitID // of the units
	buildings []int32  // indexes of the units that are buildings
	bases     []int32  // and of those that are complete bases
	ground    ground   // the map
	flows     [fieldSlots]flow

	turn     *lockstep.Turn
	seen     []outside   // the units at the start of the tick
	grid     *fixed.Grid // of the units' indexes, by their positions then
	damage   []uint32    // done to the units in this tick
	killer   []int32     // index of the unit that hit last
	births   []Unit      // of this tick
	selected []int32     // indexes of the units of the command or the zone in hand
	nobody   Player      // the account of units whose owner has no seat
}

// outside is what others see of a unit, kept close together because they look at many.
type outside struct {
	at     fixed.Vec2
	team   uint8
	kind   UnitKind
	fights bool
}

// step advances the world by one tick.
func step(w *World, t *lockstep.Turn) {
	w.Match.Tick = uint32(t.Tick)
	derive(w)
	w.workspace.turn = t
	for i := range t.Commands {
		w.obey(&t.Commands[i])
	}
	w.sense()
	w.grow()
	for i := range w.Units {
		w.act(i)
	}
	w.strike()
	w.enter()
	w.bury()
	w.bear()
	w.look()
	w.regrow()
	w.judge()
	w.workspace.turn = nil
	w.index() // for those who read the world between two steps
}

// derive makes the caches that depend on the map, after a start, a restore or a copy.
func derive(w *World) {
	s := &w.workspace
	s.births, s.turn = s.births[:0], nil
	if s.ground.derive(&w.Map) {
		for i := range s.flows {
			s.flows[i].goal = 0
		}
		side := uint32(s.ground.side)/gridCells + 1
		s.grid = fixed.NewGrid(fixed.Vec2{}, gridCells*fixed.One, side, side)
	}
	w.index()
}

// index notes the IDs of the units for find, and which of them are buildings.
func (w *World) index() {
	s := &w.workspace
	s.ids, s.bases, s.buildings = s.ids[:0], s.bases[:0], s.buildings[:0]
	for i := range w.Units {
		u := &w.Units[i]
		s.ids = append(s.ids, u.ID)
		if u.Kind.Building() {
			s.buildings = append(s.buildings, int32(i))
			if u.Kind == Base && u.Built {
				s.bases = append(s.bases, int32(i))
			}
		}
	}
}

// find returns the index of a living unit, or -1.
func (w *World) find(id UnitID) int {
	ids := w.workspace.ids
	last := len(ids) - 1
	if last < 0 || id < ids[0] || id > ids[last] {
		return -1
	}
	high := min(int64(id-ids[0]), int64(last))              // where it is if none before it is missing
	low := max(high-int64(ids[last]-ids[0])+int64(last), 0) // and if all that are missing were before it
	for low < high {
		if half := (low + high) / 2; ids[half] < id {
			low = half + 1
		} else {
			high = half
		}
	}
	if ids[low] == id {
		return int(low)
	}
	return -1
}

// sense prepares what units see of each other in this tick: everyone acts on the positions that the tick began with, so
// that the order of the units gives no advantage.
func (w *World) sense() {
	s := &w.workspace
	n := len(w.Units)
	s.seen, s.damage, s.killer = resize(s.seen, n), resize(s.damage, n), resize(s.killer, n)
	clear(s.damage)
	s.grid.Reset()
	for i := range w.Units {
		u := &w.Units[i]
		s.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}
		s.grid.Add(uint32(i), u.Pos)
	}
	s.grid.Build()
}

const gridCells = 2 // map cells along a side of a cell of the spatial grid

// resize returns s with n elements, whatever they are.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, n+n/4)
	}
	return s[:n]
}

// spawn makes a unit that joins the others at the end of the tick, and returns its ID, or 0 if the map is full.
func (w *World) spawn(u Unit) UnitID {
	s := &w.workspace
	if len(w.Units)+len(s.births) >= MaxUnits || w.Match.NextID == 1<<32-1 {
		return 0
	}
	w.Match.NextID++
	p := w.player(u.Owner)
	p.Units++
	if u.Kind.Building() {
		p.Buildings++
	}
	u.ID, u.Team, u.Slot, u.Home = w.Match.NextID, p.Team, fieldless, u.Pos
	s.births = append(s.births, u)
	return u.ID
}

// bear adds the units that were made in this tick to the others.
func (w *World) bear() {
	w.Units = append(w.Units, w.workspace.births...)
	w.workspace.births = w.workspace.births[:0]
}

// player returns the account of a seat.
func (w *World) player(p uint8) *Player {
	if int(p) >= len(w.Players) {
		w.workspace.nobody = Player{}
		return &w.workspace.nobody
	}
	return &w.Players[p]
}

// distance2 returns the square of the distance between two places of the map, truncated.
func distance2(a, b fixed.Vec2) fixed.Q {
	dx, dy := (a.X-b.X)/(1<<16), (a.Y-b.Y)/(1<<16)
	return dx*dx + dy*dy
}

// square returns the square of a distance on the map, as distance2 does.
func square(d fixed.Q) fixed.Q { return (d / (1 << 16)) * (d / (1 << 16)) }
