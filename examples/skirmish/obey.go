package skirmish

import (
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// obey carries out a command. The world may have changed since validation, or the command was never validated: obey
// skips units and commands that are not valid. What it does at once depends on what the player sees, or the units would tell what is
// hidden: they go, and find out.
func (w *World) obey(c *lockstep.Command) {
	if c.Player == lockstep.System {
		w.note(c)
		return
	}
	if int(c.Player) >= len(w.Players) || w.Players[c.Player].Status == Defeated {
		w.workspace.turn.Refuse(c, ErrDefeated.Error())
		return
	}
	p := uint8(c.Player)
	switch v := c.Value.(type) {
	case *Move:
		w.lead(w.choose(p, &v.Who), Moving, v.To, v.Queued)
	case *AttackMove:
		w.lead(w.choose(p, &v.Who), AttackMoving, v.To, v.Queued)
	case *Patrol:
		w.lead(w.choose(p, &v.Who), Patrolling, v.To, false)
	case *Attack:
		w.attack(w.choose(p, &v.Who), v.Target)
	case *Stop:
		w.stop(w.choose(p, &v.Who))
	case *Hold:
		w.station(w.choose(p, &v.Who))
	case *Gather:
		w.mineAt(w.choose(p, &v.Who), v.Crystal)
	case *Build:
		w.build(p, w.choose(p, &v.Who), v.Kind, v.At)
	case *Train:
		if err := w.enqueue(p, v); err != nil { // an order before it in this tick has spent the crystals
			w.workspace.turn.Refuse(c, err.Error())
		}
	case *Assign:
		w.assign(p, v)
	case *Propose:
		w.propose(p, v)
	case *Accept:
		w.accept(p, v)
	case *Break:
		w.secede(p)
	case *Surrender:
		w.vote(p, v)
	case *Permit:
		w.permit(p, v)
	case *Ping:
		if checkPoint(w.Map.Size, v.At) == nil {
			lockstep.Emit(w.workspace.turn, Pinged{By: p, At: v.At.Vec2()})
		}
	}
}

// note carries out a system command.
func (w *World) note(c *lockstep.Command) {
	status, who := Playing, lockstep.Player(0)
	switch v := c.Value.(type) {
	case *lockstep.Joined:
		who = v.Player
	case *lockstep.Lost:
		status, who = Absent, v.Player
	case *lockstep.TakenOver:
		status, who = Playing, v.Player // the bot's commands have the player's number
	case *lockstep.Left:
		if int(v.Player) < len(w.Players) {
			w.defeat(uint8(v.Player))
		}
		return
	default:
		return
	}
	if int(who) < len(w.Players) && w.Players[who].Status != Defeated {
		w.Players[who].Status = status
	}
}

// choose returns the indexes of the player's units in a command, ascending.
func (w *World) choose(p uint8, who *Who) []int32 {
	chosen := w.workspace.selected[:0]
	if who.Group != noGroup {
		for i := range w.Units {
			if u := &w.Units[i]; u.Group == who.Group && u.Owner == p {
				chosen = append(chosen, int32(i))
			}
		}
	} else {
		chosen = w.listed(chosen, p, who.Units)
	}
	w.workspace.selected = chosen
	return chosen
}

// listed appends the indexes of the listed units that belong to the player. It skips units out of order.
func (w *World) listed(chosen []int32, p uint8, ids []UnitID) []int32 {
	last := UnitID(0)
	for _, id := range ids[:min(len(ids), MaxListed)] {
		if i := w.find(id); id > last && i >= 0 && w.Units[i].Owner == p {
			chosen, last = append(chosen, int32(i)), id
		}
	}
	return chosen
}

// lead sends units to a place. Each gets its own spot around it; the first one gets the place itself.
func (w *World) lead(units []int32, task Task, to Point, queued bool) {
	if checkPoint(w.Map.Size, to) != nil {
		return
	}
	g := &w.workspace.ground
	goal := to.Vec2()
	via := g.nearestOpen(goal)
	if via != 0 && via != g.At(goal) {
		goal = g.Center(via)
	}
	spot := uint32(0)
	for _, i := range units {
		u := &w.Units[i]
		switch {
		case u.Kind.Building():
			u.Goal, u.Source = goal, 0
			continue
		case queued && u.Task != Idle && u.Task != Holding:
			u.Next, u.Then = task, to
			continue
		}
		at := goal
		for spot > 0 && spot < 1<<14 { // the next spot that is open
			dx, dy := grid.Spiral(spot)
			at = fixed.Vec2{X: goal.X + fixed.Q(dx)*fixed.One, Y: goal.Y + fixed.Q(dy)*fixed.One}
			if g.Free(at) {
				break
			}
			spot++
		}
		if !g.Free(at) {
			at = goal
		}
		spot++
		w.send(u, task, at, via)
		u.Next, u.Target, u.Source = Idle, 0, 0
	}
}

// attack sends all units that can fight against an enemy.
func (w *World) attack(units []int32, target UnitID) {
	j := w.find(target)
	if j < 0 {
		return
	}
	g := &w.workspace.ground
	at := w.Units[j].Pos
	via := g.nearestOpen(at)
	for _, i := range units {
		u := &w.Units[i]
		if u.Kind.Building() || u.Kind.Traits().Damage == 0 || u.Team == w.Units[j].Team {
			continue
		}
		w.send(u, Attacking, at, via)
		u.Next, u.Target, u.Source = Idle, target, 0
	}
}

func (w *World) stop(units []int32) {
	for _, i := range units {
		u := &w.Units[i]
		if !u.Kind.Building() {
			u.Next = Idle
			w.rest(u)
			continue
		}
		w.player(u.Owner).Crystals += uint32(u.Queue) * u.Making.Traits().Cost
		if u.Built {
			u.Work = 0
		}
		u.Queue = 0
	}
}

// station lets the units that walk stay where they are.
func (w *World) station(units []int32) {
	for _, i := range units {
		if u := &w.Units[i]; !u.Kind.Building() {
			u.Next = Idle
			w.rest(u)
			u.Task = Holding
		}
	}
}

func (w *World) mineAt(units []int32, crystal uint16) {
	if int(crystal) >= len(w.Crystals) {
		return
	}
	for _, i := range units {
		switch u := &w.Units[i]; u.Kind {
		case Worker:
			u.Next = Idle
			w.dispatch(u, crystal+1)
		case Base:
			u.Goal, u.Source = w.Crystals[crystal].Pos, crystal+1
		}
	}
}

// build sends workers to a site. Only if the player knows that there is rock, they stay.
func (w *World) build(p uint8, units []int32, kind UnitKind, to Point) {
	g, at := &w.workspace.ground, to.Vec2()
	if !kind.Building() || onEdge(w.Map.Size, at) || !g.Free(at) && w.Knows(w.Players[p].Team, at) {
		return
	}
	via := g.nearestOpen(at)
	for _, i := range units {
		if u := &w.Units[i]; u.Kind == Worker {
			w.send(u, Constructing, at, via)
			u.Next, u.Target, u.Source, u.Making = Idle, 0, 0, kind
		}
	}
}

// enqueue pays for units and adds them to the queue of a building, as many as the player can afford. The error is for the player, and tells
// only of what the player owns.
func (w *World) enqueue(p uint8, c *Train) error {
	i := w.find(c.Building)
	t := c.Kind.Traits()
	if i < 0 || w.Units[i].Owner != p {
		return fmt.Errorf("%w: unit %d", ErrUnknown, c.Building)
	}
	u, player := &w.Units[i], &w.Players[p]
	switch {
	case u.Kind != t.MadeBy || !u.Built || t.Cost == 0:
		return fmt.Errorf("%w: %v trains %v", ErrWrongKind, u.Kind, c.Kind)
	case u.Queue >= maxQueue || u.Queue > 0 && u.Making != c.Kind:
		return fmt.Errorf("%w: %d of %v", ErrBusy, u.Queue, u.Making)
	}
	n := min(uint32(c.Count), player.Crystals/t.Cost, uint32(maxQueue-u.Queue))
	if n == 0 {
		return fmt.Errorf("%w: %d, a %v costs %d", ErrPoor, player.Crystals, c.Kind, t.Cost)
	}
	player.Crystals -= n * t.Cost
	if u.Queue == 0 {
		u.Making, u.Work = c.Kind, t.Ticks
	}
	u.Queue += uint8(n)
	return nil
}

func (w *World) assign(p uint8, c *Assign) {
	if c.Group != noGroup && !c.Add {
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == p && u.Group == c.Group {
				u.Group = noGroup
			}
		}
	}
	chosen := w.listed(w.workspace.selected[:0], p, c.Units)
	w.workspace.selected = chosen
	for _, i := range chosen {
		w.Units[i].Group = c.Group
	}
}
