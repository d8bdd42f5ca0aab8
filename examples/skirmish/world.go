package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/fixed/ids"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A World is the state of a match. Each field is a section of the checksum, so the section of a desync names the part
// of the rules that differs.
type World struct {
	Match     Match
	Rand      fixed.Rand // for map and zones; units draw statelessly from Match.Seed
	Config    Config
	Map       Map
	Players   []Player
	Fog       []grid.Fog // by team
	Crystals  []Crystal
	Zones     []Zone
	Paths     Paths
	Units     []Unit    // by ID, ascending
	Samples   []Sample  // by tick and player, see History
	workspace workspace `state:"derived"`
}

// A Match has the course and the result of the match.
type Match struct {
	Seed   uint64
	Tick   uint32
	NextID UnitID
	Ended  uint32 // tick at which the match was won, 0 before
	Winner uint8  // 1 + team that has won
}

// A Sample has the counts of one player at a tick.
type Sample struct {
	Tick     uint32
	Army     uint16 // soldiers and archers alive
	Workers  uint16 // alive
	Gathered uint32 // crystals that workers brought home
	Kills    uint32
	Losses   uint32
}

// A Result is that of a match.
type Result struct {
	Winner uint8 // 1 + team that has won
}

// A Player has the resources and counts of one seat.
type Player struct {
	Crystals  uint32
	Gathered  uint32
	Kills     uint32
	Losses    uint32
	Units     uint16 // alive, including buildings
	Buildings uint16
	Team      uint8
	Status    Status
	Offers    uint16 // a bit for each player whom this one has invited to the team
	Settled   uint32 // tick from which the player may change the team again
	Resigns   bool   // votes for surrender
	Secret    bool   // does not share its sight with observers
}

// A Status says whether a player takes part.
type Status uint8

// The states of a player.
const (
	Playing Status = iota
	Absent         // disconnected
	Defeated
)

// workspace has buffers that Step reuses, and caches derived from the state.
type workspace struct {
	ids       []UnitID // of the units
	buildings []int32  // indexes of the units that are buildings
	bases     []int32  // and of those that are complete bases
	ground    ground   // the map
	flows     grid.Flows

	turn     *lockstep.Turn
	seen     []outside   // the units at the start of the tick
	grid     *fixed.Grid // of the units' indexes, by their positions then
	side     uint16      // of the map for which grid was made
	damage   []uint32    // to each unit in this tick
	killer   []int32     // index of the unit that hit last
	births   []Unit      // new units of this tick
	selected []int32     // indexes of the units of the present command or zone
	nobody   Player      // of units whose owner has no seat

	surveys  []survey                        // by unit
	survey   func(i int, own *lockstep.Turn) // makes one of them, for surveyor
	surveyor *World
}

// outside has the fields of a unit that others read, in a compact array.
type outside struct {
	at     fixed.Vec2
	team   uint8
	kind   UnitKind
	fights bool
}

// derive makes the caches after a start, a restore or a copy.
func derive(w *World) {
	s := &w.workspace
	s.births, s.turn = s.births[:0], nil
	if s.ground.derive(&w.Map); s.side != s.ground.Columns {
		s.side = s.ground.Columns
		side := uint32(s.side)/gridCells + 1
		s.grid = fixed.NewGrid(fixed.Vec2{}, gridCells*fixed.One, side, side)
	}
	w.index()
}

// index lists the IDs of the units for find, and the buildings.
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
func (w *World) find(id UnitID) int { return ids.Find(w.workspace.ids, id) }

// sense copies the units' positions at the start of the tick. All units act on these, so their order gives no
// advantage.
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

// spawn makes a unit, which is added at the end of the tick. It returns the unit's ID, or 0 if the map is full.
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

// bear adds the new units of this tick to the others.
func (w *World) bear() {
	w.Units = append(w.Units, w.workspace.births...)
	w.workspace.births = w.workspace.births[:0]
}

// player returns the player of a seat.
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

// A UnitID names a unit for the whole match and is never reused. 0 is no unit.
type UnitID uint32

// A Crystal is a deposit that workers mine.
type Crystal struct {
	Pos    fixed.Vec2
	Amount uint16
	Full   uint16 // the amount to which it grows back
}
