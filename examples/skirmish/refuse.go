package skirmish

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// refuse rejects commands that make no sense to a player who sees v, with a reason. What the player does not see refuses
// nothing: such a command fails in Step, where the player sees what comes of it. What only an earlier command of the tick forbids is refused
// there too (obey).
func refuse(v *View, c *lockstep.Command) error {
	if int(c.Player) >= len(v.Players) {
		return fmt.Errorf("%w: player %d of %d", ErrUnknown, c.Player, len(v.Players))
	}
	if v.Players[c.Player].Status == Defeated {
		return ErrDefeated
	}
	p := uint8(c.Player)
	switch o := c.Value.(type) {
	case *Move:
		return cmp.Or(v.checkWho(p, &o.Who), checkPoint(v.Size, o.To))
	case *AttackMove:
		return cmp.Or(v.checkWho(p, &o.Who), checkPoint(v.Size, o.To))
	case *Patrol:
		return cmp.Or(v.checkWho(p, &o.Who), checkPoint(v.Size, o.To))
	case *Attack:
		return cmp.Or(v.checkWho(p, &o.Who), v.checkTarget(p, o.Target))
	case *Stop:
		return v.checkWho(p, &o.Who)
	case *Hold:
		return v.checkWho(p, &o.Who)
	case *Gather:
		return cmp.Or(v.checkWho(p, &o.Who), v.checkCrystal(o.Crystal))
	case *Build:
		return cmp.Or(v.checkWho(p, &o.Who), checkPoint(v.Size, o.At), v.checkBuild(p, o))
	case *Train:
		return v.checkTrain(p, o)
	case *Assign:
		return v.checkList(p, o.Units)
	case *Ping:
		return checkPoint(v.Size, o.At)
	}
	return v.checkAffair(p, c)
}

// checkAffair checks commands about teams and observers, as Step does.
func (v *View) checkAffair(p uint8, c *lockstep.Command) error {
	w := World{Match: Match{Tick: uint32(c.Tick), Ended: v.Ended}, Config: Config{Teams: v.Teams, Diplomacy: v.Diplomacy}}
	w.knowPlayers(v)
	switch o := c.Value.(type) {
	case *Propose:
		return w.checkPropose(p, o)
	case *Accept:
		return w.checkAccept(p, o)
	case *Break:
		return w.checkBreak(p)
	case *Surrender:
		return w.checkSurrender(p, o)
	case *Permit:
		return w.checkPermit(p, o)
	}
	return fmt.Errorf("%w: kind %d", ErrUnknown, c.Kind)
}

func (v *View) checkWho(p uint8, who *Who) error {
	if who.Group == noGroup {
		if len(who.Units) == 0 {
			return ErrNoUnits
		}
		return v.checkList(p, who.Units)
	}
	if len(who.Units) > 0 {
		return fmt.Errorf("%w: a group and a list", ErrTooMany)
	}
	for i := range v.Units {
		if v.Units[i].Owner == p && v.Units[i].Group == who.Group {
			return nil
		}
	}
	return fmt.Errorf("%w: group %d is empty", ErrNoUnits, who.Group)
}

func (v *View) checkList(p uint8, ids []UnitID) error {
	if len(ids) > MaxListed {
		return fmt.Errorf("%w: %d, want at most %d", ErrTooMany, len(ids), MaxListed)
	}
	last := UnitID(0)
	for _, id := range ids {
		if id <= last {
			return fmt.Errorf("%w: %d after %d", ErrNotSorted, id, last)
		}
		last = id
		if _, err := v.checkOwn(p, id); err != nil {
			return err
		}
	}
	return nil
}

// checkOwn returns the player's unit with an ID. Hidden units are as unknown as those that are not there.
func (v *View) checkOwn(p uint8, id UnitID) (*Seen, error) {
	u := v.find(id)
	switch {
	case u == nil:
		return nil, fmt.Errorf("%w: unit %d", ErrUnknown, id)
	case u.Owner != p:
		return nil, fmt.Errorf("%w: unit %d", ErrNotYours, id)
	}
	return u, nil
}

// find returns the unit with an ID that the viewer sees, or nil.
func (v *View) find(id UnitID) *Seen {
	i, found := slices.BinarySearchFunc(v.Units, id, func(u Seen, id UnitID) int { return cmp.Compare(u.ID, id) })
	if !found {
		return nil
	}
	return &v.Units[i]
}

// onEdge reports whether a place is in one of the cells along the sides of the map, which are rock, or outside.
func onEdge(size uint16, at fixed.Vec2) bool {
	last := fixed.FromInt(int64(size) - 1)
	return min(at.X, at.Y) < fixed.One || max(at.X, at.Y) >= last
}

func checkPoint(size uint16, at Point) error {
	if edge := size * 8; at.X >= edge || at.Y >= edge {
		return fmt.Errorf("%w: %v", ErrOffMap, at)
	}
	return nil
}

func (v *View) checkTarget(p uint8, id UnitID) error {
	switch u := v.find(id); {
	case u == nil:
		return fmt.Errorf("%w: unit %d", ErrUnseen, id)
	case int(u.Owner) < len(v.Players) && v.Players[u.Owner].Team == v.Players[p].Team:
		return fmt.Errorf("%w: unit %d", ErrFriend, id)
	}
	return nil
}

func (v *View) checkCrystal(crystal uint16) error {
	for i := range v.Crystals {
		if v.Crystals[i].ID == crystal {
			return nil
		}
	}
	return fmt.Errorf("%w: crystal %d", ErrUnknown, crystal)
}

func (v *View) checkBuild(p uint8, c *Build) error {
	t := c.Kind.Traits()
	site := false // an unfinished building of the player is there
	for i := range v.Units {
		b := &v.Units[i]
		site = site || b.Owner == p && b.Pos == c.At.Vec2() && !b.Built && b.Kind == c.Kind && b.Kind.Building()
	}
	switch {
	case !c.Kind.Building():
		return fmt.Errorf("%w: build %v", ErrWrongKind, c.Kind)
	case site:
		return nil
	case v.Players[p].Crystals < t.Cost:
		return fmt.Errorf("%w: %d, a %v costs %d", ErrPoor, v.Players[p].Crystals, c.Kind, t.Cost)
	case !v.fits(c.Kind, c.At.Vec2()):
		return fmt.Errorf("%w: %v", ErrNoRoom, c.At)
	}
	return nil
}

// fits is World.fits for what the viewer knows: the unexplored is open ground, and what is hidden takes no room.
func (v *View) fits(kind UnitKind, at fixed.Vec2) bool {
	radius, shape := kind.Traits().Radius, grid.Shape{Columns: v.Size, Rows: v.Size}
	for y := at.Y - radius; y <= at.Y+radius; y += fixed.Half {
		for x := at.X - radius; x <= at.X+radius; x += fixed.Half {
			if at := (fixed.Vec2{X: x, Y: y}); onEdge(v.Size, at) || grid.Bits(v.Rock).HasAt(shape, at) {
				return false
			}
		}
	}
	for i := range v.Crystals {
		if v.Crystals[i].Pos.InRange(at, radius+2*fixed.One) {
			return false
		}
	}
	for i := range v.Units {
		if b := &v.Units[i]; b.Kind.Building() && b.Pos.InRange(at, radius+b.Kind.Traits().Radius+fixed.One/2) {
			return false
		}
	}
	return true
}

func (v *View) checkTrain(p uint8, c *Train) error {
	u, err := v.checkOwn(p, c.Building)
	t := c.Kind.Traits()
	switch {
	case err != nil:
		return err
	case u.Kind != t.MadeBy || !u.Built || t.Cost == 0:
		return fmt.Errorf("%w: %v trains %v", ErrWrongKind, u.Kind, c.Kind)
	case c.Count == 0:
		return ErrNoUnits
	case u.Queue > 0 && u.Making != c.Kind || u.Queue+c.Count > maxQueue || c.Count > maxQueue:
		return fmt.Errorf("%w: %d of %v", ErrBusy, u.Queue, u.Making)
	case v.Players[p].Crystals < uint32(c.Count)*t.Cost:
		return fmt.Errorf("%w: %d, %d × %v costs %d", ErrPoor, v.Players[p].Crystals, c.Count, c.Kind, uint32(c.Count)*t.Cost)
	}
	return nil
}

// Judge returns the rules' answers to commands of a player who sees w, which is a state or what [World.Know] has made.
func Judge(w *World, p lockstep.Player) func(command any) error {
	var v View
	if err := see(w, nil, viewOf(w, p), &v); err != nil {
		return func(any) error { return err }
	}
	return func(command any) error {
		return refuse(&v, &lockstep.Command{Tick: lockstep.Tick(w.Match.Tick + 1), Player: p, Value: command})
	}
}
