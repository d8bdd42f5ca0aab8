package skirmish

import (
	"cmp"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// validate rejects commands that make no sense, with a reason.
func validate(w *World, _ *Config, c *lockstep.Command) error {
	if c.Player == lockstep.System {
		return nil
	}
	if int(c.Player) >= len(w.Players) {
		return fmt.Errorf("%w: player %d of %d", ErrUnknown, c.Player, len(w.Players))
	}
	if w.Players[c.Player].Status == Defeated {
		return ErrDefeated
	}
	p := uint8(c.Player)
	switch v := c.Value.(type) {
	case *Move:
		return cmp.Or(w.checkWho(p, &v.Who), w.checkPoint(v.To))
	case *AttackMove:
		return cmp.Or(w.checkWho(p, &v.Who), w.checkPoint(v.To))
	case *Patrol:
		return cmp.Or(w.checkWho(p, &v.Who), w.checkPoint(v.To))
	case *Attack:
		return cmp.Or(w.checkWho(p, &v.Who), w.checkTarget(p, v.Target))
	case *Stop:
		return w.checkWho(p, &v.Who)
	case *Hold:
		return w.checkWho(p, &v.Who)
	case *Gather:
		if int(v.Crystal) >= len(w.Crystals) {
			return fmt.Errorf("%w: crystal %d of %d", ErrUnknown, v.Crystal, len(w.Crystals))
		}
		return w.checkWho(p, &v.Who)
	case *Build:
		return cmp.Or(w.checkWho(p, &v.Who), w.checkPoint(v.At), w.checkBuild(p, v))
	case *Train:
		return w.checkTrain(p, v)
	case *Assign:
		return w.checkList(p, v.Units)
	case *Propose:
		return w.checkPropose(p, v)
	case *Accept:
		return w.checkAccept(p, v)
	case *Break:
		return w.checkBreak(p)
	case *Surrender:
		return w.checkSurrender(p, v)
	case *Permit:
		return w.checkPermit(p, v)
	case *Ping:
		return w.checkPoint(v.At)
	}
	return fmt.Errorf("%w: kind %d", ErrUnknown, c.Kind)
}

func (w *World) checkWho(p uint8, who *Who) error {
	if who.Group == noGroup {
		if len(who.Units) == 0 {
			return ErrNoUnits
		}
		return w.checkList(p, who.Units)
	}
	if len(who.Units) > 0 {
		return fmt.Errorf("%w: a group and a list", ErrTooMany)
	}
	for i := range w.Units {
		if w.Units[i].Owner == p && w.Units[i].Group == who.Group {
			return nil
		}
	}
	return fmt.Errorf("%w: group %d is empty", ErrNoUnits, who.Group)
}

func (w *World) checkList(p uint8, ids []UnitID) error {
	if len(ids) > MaxListed {
		return fmt.Errorf("%w: %d, want at most %d", ErrTooMany, len(ids), MaxListed)
	}
	last := UnitID(0)
	for _, id := range ids {
		if id <= last {
			return fmt.Errorf("%w: %d after %d", ErrNotSorted, id, last)
		}
		last = id
		if i := w.find(id); i < 0 {
			return fmt.Errorf("%w: unit %d", ErrUnknown, id)
		} else if w.Units[i].Owner != p {
			return fmt.Errorf("%w: unit %d", ErrNotYours, id)
		}
	}
	return nil
}

func (w *World) checkPoint(at Point) error {
	if edge := w.Map.Size * 8; at.X >= edge || at.Y >= edge {
		return fmt.Errorf("%w: %v", ErrOffMap, at)
	}
	return nil
}

func (w *World) checkTarget(p uint8, id UnitID) error {
	i := w.find(id)
	switch {
	case i < 0:
		return fmt.Errorf("%w: unit %d", ErrUnknown, id)
	case w.Units[i].Team == w.Players[p].Team:
		return fmt.Errorf("%w: unit %d", ErrFriend, id)
	case !w.Sees(w.Players[p].Team, w.Units[i].Pos) && !(w.Units[i].Kind.Building() && w.Knows(w.Players[p].Team, w.Units[i].Pos)):
		return fmt.Errorf("%w: unit %d", ErrUnseen, id)
	}
	return nil
}

func (w *World) checkBuild(p uint8, c *Build) error {
	t := c.Kind.Traits()
	site := false // an unfinished building of the player is there
	for _, i := range w.workspace.buildings {
		b := &w.Units[i]
		site = site || b.Owner == p && b.Pos == c.At.Vec2() && !b.Built && b.Kind == c.Kind
	}
	switch {
	case !c.Kind.Building():
		return fmt.Errorf("%w: build %v", ErrWrongKind, c.Kind)
	case site:
		return nil
	case w.Players[p].Crystals < t.Cost:
		return fmt.Errorf("%w: %d, a %v costs %d", ErrPoor, w.Players[p].Crystals, c.Kind, t.Cost)
	case !w.fits(c.Kind, c.At.Vec2()):
		return fmt.Errorf("%w: %v", ErrNoRoom, c.At)
	}
	return nil
}

func (w *World) checkTrain(p uint8, c *Train) error {
	i := w.find(c.Building)
	if i < 0 {
		return fmt.Errorf("%w: building %d", ErrUnknown, c.Building)
	}
	u, t := &w.Units[i], c.Kind.Traits()
	switch {
	case u.Owner != p:
		return fmt.Errorf("%w: building %d", ErrNotYours, c.Building)
	case u.Kind != t.MadeBy || !u.Built || t.Cost == 0:
		return fmt.Errorf("%w: %v trains %v", ErrWrongKind, u.Kind, c.Kind)
	case c.Count == 0:
		return ErrNoUnits
	case u.Queue > 0 && u.Making != c.Kind || u.Queue+c.Count > maxQueue || c.Count > maxQueue:
		return fmt.Errorf("%w: %d of %v", ErrBusy, u.Queue, u.Making)
	case w.Players[p].Crystals < uint32(c.Count)*t.Cost:
		return fmt.Errorf("%w: %d, %d × %v costs %d", ErrPoor, w.Players[p].Crystals, c.Count, c.Kind, uint32(c.Count)*t.Cost)
	}
	return nil
}
