package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Point is a place in a command: eighths of a cell, so that it takes few bytes.
type Point struct{ X, Y uint16 }

// Vec2 returns the place in cells.
func (p Point) Vec2() fixed.Vec2 { return fixed.Vec2{X: fixed.Q(p.X) << 29, Y: fixed.Q(p.Y) << 29} }

// PointAt returns the Point that is nearest to a place of the map.
func PointAt(v fixed.Vec2) Point {
	eighths := func(q fixed.Q) uint16 { return uint16(min(max((int64(q)+1<<28)>>29, 0), 1<<16-1)) }
	return Point{eighths(v.X), eighths(v.Y)}
}

// Who says which units of the player a command is for: all of a control group, or, if Group is 0, those listed.
type Who struct {
	Group uint8
	Units []UnitID // ascending
}

// The commands that players give.
type (
	// Move goes to a place without a fight. A building's new units gather there from now on. Queued: after what the
	// units do now; one such command can wait.
	Move struct {
		Who    Who
		To     Point
		Queued bool
	}

	// AttackMove goes to a place and fights whom it meets.
	AttackMove struct {
		Who    Who
		To     Point
		Queued bool
	}

	// Patrol goes to a place and back, again and again, and fights whom it meets.
	Patrol struct {
		Who Who
		To  Point
	}

	// Attack goes after one enemy.
	Attack struct {
		Who    Who
		Target UnitID
	}

	// Stop ends what the units do. A building's queue is emptied and paid back.
	Stop struct{ Who Who }

	// Gather lets workers mine the crystal with an index. A building's new workers begin there.
	Gather struct {
		Who     Who
		Crystal uint16
	}

	// Build lets workers build, or help to complete, a building at a place. It is paid for when work begins.
	Build struct {
		Who  Who
		Kind UnitKind
		At   Point
	}

	// Train lets a building make units. They are paid for at once.
	Train struct {
		Building UnitID
		Kind     UnitKind
		Count    uint8
	}

	// Assign makes units a control group, in place of those that were in it, or (Add) beside them. Group 0 takes them
	// out of their groups. The units that a building makes join the group that it is in.
	Assign struct {
		Group uint8
		Add   bool
		Units []UnitID // ascending
	}
)

// The kinds of commands.
const (
	KindMove lockstep.Kind = 1 + iota
	KindAttackMove
	KindPatrol
	KindAttack
	KindStop
	KindGather
	KindBuild
	KindTrain
	KindAssign
)

// MaxListed is the largest number of units that a command can list. Greater armies have control groups.
const MaxListed = 500

func commandTypes() []lockstep.CommandType {
	return []lockstep.CommandType{
		lockstep.Type[Move](KindMove, "move"),
		lockstep.Type[AttackMove](KindAttackMove, "attack-move"),
		lockstep.Type[Patrol](KindPatrol, "patrol"),
		lockstep.Type[Attack](KindAttack, "attack"),
		lockstep.Type[Stop](KindStop, "stop"),
		lockstep.Type[Gather](KindGather, "gather"),
		lockstep.Type[Build](KindBuild, "build"),
		lockstep.Type[Train](KindTrain, "train"),
		lockstep.Type[Assign](KindAssign, "assign"),
	}
}
