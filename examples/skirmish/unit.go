package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A Task is the present order of a unit.
type Task uint8

// The tasks.
const (
	Idle Task = iota
	Moving
	Attacking    // one target
	AttackMoving // to a place, fighting enemies on the way
	Patrolling   // between two places, fighting enemies on the way
	Gathering    // carrying crystals to the nearest base
	Constructing // a building
	Holding      // its place, fighting only what is in reach
)

const (
	fieldless = 0xff // Unit.Slot: follows no flow field
	freshSlot = 0xfe // Unit.Slot: does not know yet whether it needs a flow field
	noGroup   = 0
	patience  = 40 // ticks without progress until a unit gives up
)

// The phases of Gathering and Constructing, and of Idle after a chase.
const (
	phaseOut  uint8 = iota // on the way to the crystal or to the site
	phaseWork              // mining, building
	phaseHome              // carrying a load to a base, or returning to Unit.Home
)

// A Unit is one worker, soldier, archer or building. It is 88 bytes without padding.
type Unit struct {
	Pos  fixed.Vec2 // cells
	Goal fixed.Vec2 // of the task; of a building: the rally point
	Home fixed.Vec2 // the last idle place; of a patrol: the other end

	ID     UnitID
	Target UnitID    // enemy under attack, building under construction
	Via    grid.Cell // cell whose flow field leads to Goal, shared by all units of an order

	Health uint16
	Work   uint16 // ticks left to mine a load, to train a unit, to complete this building
	Source uint16 // 1 + index of its crystal
	Kills  uint16
	Then   Point // goal of the queued order

	Owner    uint8 // player
	Team     uint8
	Kind     UnitKind
	Task     Task
	Phase    uint8
	Next     Task  // queued, Idle for none
	Group    uint8 // control group of its owner, 0 for none
	Cargo    uint8 // crystals carried
	Stuck    uint8 // ticks without progress
	Zone     uint8 // 1 + index of the zone around it
	Slot     uint8 // of its flow field, or fieldless
	Direct   bool  // the straight way to Goal is open
	Making   UnitKind
	Queue    uint8 // units to train, including the present one
	Cooldown uint8 // ticks to the next hit
	Built    bool  // false while under construction
}

// fights reports whether the unit attacks by itself.
func (u *Unit) fights() bool {
	return u.Kind == Soldier || u.Kind == Archer || (u.Kind == Tower || u.Kind == Base) && u.Built
}

// stays reports whether the unit does not leave its place by itself.
func (u *Unit) stays() bool { return u.Kind.Building() || u.Task == Holding }

// rest ends the unit's task and starts the queued one.
func (w *World) rest(u *Unit) {
	next, then := u.Next, u.Then
	u.Task, u.Phase, u.Target, u.Stuck, u.Next, u.Source = Idle, phaseOut, 0, 0, Idle, 0
	u.Home, u.Goal = u.Pos, u.Pos
	if next != Idle && !u.Kind.Building() {
		w.send(u, next, then.Vec2(), w.workspace.ground.nearestOpen(then.Vec2()))
	}
}

// send gives a unit a task with a goal, along the flow field of cell via.
func (w *World) send(u *Unit, task Task, goal fixed.Vec2, via grid.Cell) {
	u.Task, u.Phase, u.Stuck = task, phaseOut, 0
	u.Home, u.Goal, u.Via = u.Pos, goal, via
	u.Slot = freshSlot
}
