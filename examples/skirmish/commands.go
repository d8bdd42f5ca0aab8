package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Point is a place in a command. It is in eighths of a cell, to save bytes.
type Point struct{ X, Y uint16 }

// Vec2 returns the place in cells.
func (p Point) Vec2() fixed.Vec2 { return fixed.Vec2{X: fixed.Q(p.X) << 29, Y: fixed.Q(p.Y) << 29} }

// PointAt returns the nearest Point to a place of the map.
func PointAt(v fixed.Vec2) Point {
	eighths := func(q fixed.Q) uint16 { return uint16(min(max((int64(q)+1<<28)>>29, 0), 1<<16-1)) }
	return Point{eighths(v.X), eighths(v.Y)}
}

// Who selects the player's units of a command: all of a control group, or the listed ones if Group is 0.
type Who struct {
	Group uint8
	Units []UnitID // ascending
}

// The commands of players.
type (
	// Move goes to a place without fighting. For a building it sets the rally point. Queued: after the present task;
	// one command can wait.
	Move struct {
		Who    Who
		To     Point
		Queued bool
	}

	// AttackMove goes to a place and fights enemies on the way.
	AttackMove struct {
		Who    Who
		To     Point
		Queued bool
	}

	// Patrol goes between here and a place, and fights enemies on the way.
	Patrol struct {
		Who Who
		To  Point
	}

	// Attack pursues one enemy.
	Attack struct {
		Who    Who
		Target UnitID `feed:"of=Units"`
	}

	// Stop ends the units' tasks. For a building it empties the queue and refunds the crystals.
	Stop struct{ Who Who }

	// Gather lets workers mine the crystal with an index. New workers of a building begin there.
	Gather struct {
		Who     Who
		Crystal uint16
	}

	// Build lets workers build a building at a place, or help to complete it. The player pays when work begins.
	Build struct {
		Who  Who
		Kind UnitKind
		At   Point
	}

	// Train lets a building train units. The player pays at once.
	Train struct {
		Building UnitID
		Kind     UnitKind
		Count    uint8
	}

	// Assign replaces a control group by the units, or (Add) adds them to it. Group 0 removes them from their groups.
	// New units of a building join its group.
	Assign struct {
		Group uint8
		Add   bool
		Units []UnitID // ascending
	}

	// Propose invites another player to the player's team, or (Withdraw) takes the invitation back. It stands until one
	// of both changes the team or is defeated.
	Propose struct {
		To       uint8
		Withdraw bool
	}

	// Accept joins the team of the player who sent the offer.
	Accept struct{ From uint8 }

	// Break leaves the team. The player is then a team alone.
	Break struct{}

	// Surrender votes for the surrender of the player's team, or (Withdraw) takes the vote back.
	Surrender struct{ Withdraw bool }

	// Permit lets observers share the player's sight, or forbids it.
	Permit struct{ Observers bool }

	// Ping shows a place to the player's team.
	Ping struct{ At Point }

	// Hold lets units stand where they are and fight only the enemies that they reach from there.
	Hold struct{ Who Who }
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
	KindPropose
	KindAccept
	KindBreak
	KindSurrender
	KindPermit
	KindPing
	KindHold
)

// MaxListed limits the units that a command can list. Larger armies use control groups.
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
		lockstep.Type[Propose](KindPropose, "propose").Limit(6, 10*lockstep.Second),
		lockstep.Type[Accept](KindAccept, "accept"),
		lockstep.Type[Break](KindBreak, "break"),
		lockstep.Type[Surrender](KindSurrender, "surrender").Limit(6, 10*lockstep.Second),
		lockstep.Type[Permit](KindPermit, "permit").Limit(6, 10*lockstep.Second),
		lockstep.Type[Ping](KindPing, "ping").Limit(5, 10*lockstep.Second),
		lockstep.Type[Hold](KindHold, "hold"),
	}
}
