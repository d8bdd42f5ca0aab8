package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// A UnitID names a unit for the whole match; it is never used again. 0 is no unit.
type UnitID uint32

// A Task is what a unit is about.
type Task uint8

// The tasks.
const (
	Idle Task = iota
	Moving
	Attacking    // one target
	AttackMoving // to a place, fighting what is met on the way
	Patrolling   // between two places, fighting what is met
	Gathering    // carrying crystals to the nearest base
	Constructing // a building
)

const (
	fieldless = 0xff // Unit.Slot: follows no flow field
	freshSlot = 0xfe // Unit.Slot: has yet to look whether it needs one
	noGroup   = 0
	patience  = 40 // ticks without getting on, after which a unit gives up
)

// The phases of Gathering and Constructing, and of Idle after a chase.
const (
	phaseOut  uint8 = iota // on the way to the crystal or to the site
	phaseWork              // mining, building
	phaseHome              // carrying a load to a base; going back to where it stood
)

// A Unit is one worker, soldier, archer or building. It is 88 bytes without padding.
type Unit struct {
	Pos  fixed.Vec2 // cells
	Goal fixed.Vec2 // where the task ends; of a building: where new units gather
	Home fixed.Vec2 // where it stood idle last; of a patrol: the other end

	ID     UnitID
	Target UnitID // enemy under attack, building under construction
	Via    uint32 // cell whose flow field leads to Goal, shared by all of one order

	Health uint16
	Work   uint16 // ticks left to mine a load, to train a unit, to complete this building
	Source uint16 // 1 + index of the crystal that is gathered
	Kills  uint16
	Then   Point // where the queued order leads

	Owner    uint8 // player
	Team     uint8
	Kind     UnitKind
	Task     Task
	Phase    uint8
	Next     Task  // queued, Idle for none
	Group    uint8 // control group of its owner, 0 for none
	Cargo    uint8 // crystals carried
	Stuck    uint8 // ticks without getting on
	Zone     uint8 // 1 + index of the zone it stands in
	Slot     uint8 // of the flow field in use, or fieldless
	Direct   bool  // nothing blocks the straight way to Goal
	Making   UnitKind
	Queue    uint8 // units still to be made, the one in work included
	Cooldown uint8 // ticks to the next hit
	Built    bool  // false while under construction
}

// fights tells whether the unit takes targets by itself.
func (u *Unit) fights() bool {
	return u.Kind == Soldier || u.Kind == Archer || (u.Kind == Tower || u.Kind == Base) && u.Built
}

// rest ends the unit's task where it stands, and starts the queued one.
func (w *World) rest(u *Unit) {
	next, then := u.Next, u.Then
	u.Task, u.Phase, u.Target, u.Stuck, u.Next, u.Source = Idle, phaseOut, 0, 0, Idle, 0
	u.Home, u.Goal = u.Pos, u.Pos
	if next != Idle && !u.Kind.Building() {
		w.send(u, next, then.Vec2(), w.workspace.ground.nearestOpen(w.workspace.ground.cell(then.Vec2())))
	}
}

// send gives a unit a task that leads to goal, along the flow field of cell via.
func (w *World) send(u *Unit, task Task, goal fixed.Vec2, via uint32) {
	u.Task, u.Phase, u.Stuck = task, phaseOut, 0
	u.Home, u.Goal, u.Via = u.Pos, goal, via
	u.Slot = freshSlot
}
