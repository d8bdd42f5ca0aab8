package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// campaign is the plan of a bot for one control group.
type campaign struct {
	ordered uint32 // tick of the last order, 0 before the first
	aimed   uint32 // tick of the last order to attack one enemy
	retreat bool   // the last order was to return to base
}

const (
	underWay   = 400 // ticks until a busy group gets another order
	alarmTicks = 160 // between two calls to defend
)

// defend sends the nearest group of the army to an enemy near the base.
func (b *Bot) defend(w *World) bool {
	v := &b.view
	if v.threat < 0 || v.army == 0 || b.alarm != 0 && w.Match.Tick < b.alarm+alarmTicks {
		return false
	}
	at := w.Units[v.threat].Pos
	group, nearest := b.nearestGroup(at)
	if group == 0 || nearest < square(10*fixed.One) {
		return false // the group is there
	}
	b.alarm = w.Match.Tick
	b.groups[group] = campaign{ordered: w.Match.Tick}
	return b.attackTo(Who{Group: group}, at)
}

func (b *Bot) nearestGroup(at fixed.Vec2) (group uint8, distance fixed.Q) {
	distance = fixed.MaxQ
	for g := uint8(1); g <= ArmyGroups; g++ {
		t := &b.view.groups[g]
		if t.count < 2 {
			continue
		}
		if d := distance2(t.middle(), at); d < distance {
			group, distance = g, d
		}
	}
	return group, distance
}

// concede joins the vote to surrender if another player of the team has begun one. A bot begins one only when it is beaten.
func (b *Bot) concede(w *World) bool {
	me := &w.Players[b.player]
	votes, _ := w.Votes(me.Team)
	if votes == 0 && !b.beaten(w) || me.Resigns || w.Match.Ended != 0 {
		return false
	}
	b.command.resign = Surrender{}
	return b.give(KindSurrender, &b.command.resign)
}

// open sends each group without an order towards the middle of the map, one after the other.
func (b *Bot) open(w *World) bool {
	if w.Match.Tick > 400 {
		return false
	}
	for g := uint8(1); g <= ArmyGroups; g++ {
		c, t := &b.groups[g], &b.view.groups[g]
		if c.ordered == 0 && t.count > 0 {
			c.ordered = w.Match.Tick
			return b.attackTo(Who{Group: g}, b.near(w, w.Map.middle(), int64(w.Map.Size/10)))
		}
	}
	return false
}

// campaign gives an order to a random group: to retreat from a lost fight, to attack an enemy, or to search for one.
func (b *Bot) campaign(w *World) bool {
	g := uint8(1 + b.rand.N(ArmyGroups))
	c, t := &b.groups[g], &b.view.groups[g]
	if t.count == 0 {
		return false
	}
	at := t.middle()
	if foes := b.foesAround(w, at, 10); foes > 0 {
		if foes > 2*t.count && !c.retreat {
			*c = campaign{ordered: w.Match.Tick, retreat: true}
			return b.moveTo(Who{Group: g}, b.near(w, b.view.home, 6))
		}
		return false // the group may win its fight
	}
	if t.busy*3 > t.count && w.Match.Tick < c.ordered+underWay || w.Match.Tick < c.ordered+underWay/4 {
		return false
	}
	if t.count < b.courage(w) {
		return false
	}
	*c = campaign{ordered: w.Match.Tick}
	return b.attackTo(Who{Group: g}, b.objective(w, at))
}

// courage returns the least number of units in a group that attacks. It falls during the match.
func (b *Bot) courage(w *World) int { return max(4, 12-int(w.Match.Tick/6000)) }

func (b *Bot) foesAround(w *World, at fixed.Vec2, cells fixed.Q) (n int) {
	for _, i := range b.view.foes {
		if distance2(w.Units[i].Pos, at) < square(cells*fixed.One) {
			n++
		}
	}
	return n
}

// objective returns a place to attack: the nearest known enemy building, or else a place to search.
func (b *Bot) objective(w *World, at fixed.Vec2) fixed.Vec2 {
	best, nearest := int32(-1), fixed.MaxQ
	for _, i := range b.view.targets {
		if d := distance2(w.Units[i].Pos, at); d < nearest {
			best, nearest = i, d
		}
	}
	if best >= 0 && b.rand.N(8) > 0 {
		return w.Units[best].Pos
	}
	return b.unseen(w)
}
