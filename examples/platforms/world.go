package platforms

import "github.com/seed-49bee653/samestep/lockstep"

// A World is the state of a match. The entities that never change are in [Level], and the units' sizes in the Config.
type World struct {
	Tick    uint32
	Players uint8
	Units   []Unit // by player
}

// A Unit is a player's box on the map.
type Unit struct {
	X, Y   int64    // the centre
	MoveX  int8     // -1, 0 or 1: where it walks
	MoveY  int8     // 1 for a jump that this tick begins
	VY     int32    // speed upwards
	Inside []uint32 // IDs of the triggers that it touches, ascending
}

// firstPlayer is the ID of the first player. The units follow the players.
const firstPlayer = uint32(len(level)) + 1

// PlayerID returns the ID of a player's entity, which owns the player's unit.
func (w *World) PlayerID(p lockstep.Player) uint32 { return firstPlayer + uint32(p) }

// UnitID returns the ID of a player's unit.
func (w *World) UnitID(p lockstep.Player) uint32 { return firstPlayer + uint32(w.Players) + uint32(p) }

// NextID returns the ID after that of the last entity.
func (w *World) NextID() uint32 { return firstPlayer + 2*uint32(w.Players) }

// A Box is an entity that never changes: something to stand on, or a trigger.
type Box struct {
	X, Y          int64
	Width, Height int32
	Trigger       bool
	Enter, Exit   string // the trigger's actions, "" for none
}

// The actions of triggers. Others do nothing.
const (
	Teleport = "teleport" // to the origin
	Spawn    = "spawn"    // to the place where units come back
)

// level has the floor, two platforms, the teleport, and the net below everything, by ID from 1.
var level = [...]Box{
	{X: 4000, Y: 3850, Width: 8000, Height: 100},
	{X: 6000, Y: 4550, Width: 800, Height: 100},
	{X: 4000, Y: 4550, Width: 800, Height: 100},
	{X: 3000, Y: 4550, Width: 100, Height: 1500, Trigger: true, Enter: Teleport},
	{X: 4000, Y: -5000, Width: 100000, Height: 1, Trigger: true, Enter: Spawn},
}

// Level returns the entities that never change, by ID from 1.
func Level() []Box { return append([]Box(nil), level[:]...) }

// bounds are the sides of a box.
type bounds struct{ left, right, bottom, top int64 }

func (b *Box) bounds() bounds { return around(b.X, b.Y, b.Width, b.Height) }

// around returns the sides of a box around a centre. Half of an odd size is rounded down.
func around(x, y int64, width, height int32) bounds {
	return bounds{x - int64(width/2), x + int64(width/2), y - int64(height/2), y + int64(height/2)}
}

// besides reports whether two boxes have the same height in part, more than a line.
func (b bounds) besides(o bounds) bool { return b.bottom < o.top && o.bottom < b.top }

// over reports whether two boxes are above each other in part, more than a line.
func (b bounds) over(o bounds) bool { return b.left < o.right && o.left < b.right }

// touches reports whether two boxes overlap or are at most 1 apart.
func (b bounds) touches(o bounds) bool {
	return b.left <= o.right+1 && o.left <= b.right+1 && b.bottom <= o.top+1 && o.bottom <= b.top+1
}
