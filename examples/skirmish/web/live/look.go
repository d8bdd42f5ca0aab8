package live

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A look is what is known of a match by its views.
type look struct {
	game   *lockstep.Game
	view   skirmish.View
	now    skirmish.World
	before skirmish.World // only its units, for the way between both
	tick   lockstep.Tick  // of now
	knows  bool           // there is a view
}

// take takes the last views. It returns false for bytes that are no view.
func (l *look) take(s *player.Sight, tell func(event any)) bool {
	if l.knows && s.Tick == l.tick {
		return true
	}
	if l.knows && s.PreviousTick > l.tick && !l.know(s.Previous, s.PreviousTick, tell) { // the page has slept
		return false
	}
	return l.know(s.Current, s.Tick, tell)
}

func (l *look) know(view []byte, tick lockstep.Tick, tell func(event any)) bool {
	if lockstep.DecodeView(l.game, view, &l.view) != nil {
		return false
	}
	first := !l.knows
	l.before.Units = append(l.before.Units[:0], l.now.Units...)
	l.before.Players, l.before.Match = append(l.before.Players[:0], l.now.Players...), l.now.Match
	l.now.Know(&l.view, tick)
	l.tick, l.knows = tick, true
	if first {
		l.before.Units = append(l.before.Units[:0], l.now.Units...)
	} else {
		l.compare(tell)
	}
	return true
}

// forget begins anew, as another viewer.
func (l *look) forget() { l.knows, l.now = false, skirmish.World{} }

// compare tells what has happened between two views. Views have no events, but these can be seen.
func (l *look) compare(tell func(event any)) {
	was, now := l.before.Units, l.now.Units
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].ID < now[0].ID:
			if u := &was[0]; u.Team == l.view.Team || l.surely(u.Pos) {
				tell(skirmish.Death{Unit: u.ID, Kind: u.Kind, Owner: u.Owner, At: u.Pos})
			}
			was = was[1:]
		case len(was) == 0 || now[0].ID < was[0].ID:
			if u := &now[0]; u.Team == l.view.Team && !u.Kind.Building() {
				tell(skirmish.Trained{Unit: u.ID, Kind: u.Kind, Owner: u.Owner})
			}
			now = now[1:]
		default:
			switch a, b := &was[0], &now[0]; {
			case !a.Built && b.Built && b.Kind.Building():
				tell(skirmish.BuildingDone{Unit: b.ID, Kind: b.Kind, Owner: b.Owner, At: b.Pos})
			case b.Health < a.Health:
				tell(skirmish.Shot{At: b.ID}) // by whom is not known
			}
			was, now = was[1:], now[1:]
		}
	}
	for p := range min(len(l.now.Players), len(l.before.Players)) {
		if l.now.Players[p].Status == skirmish.Defeated && l.before.Players[p].Status != skirmish.Defeated {
			tell(skirmish.PlayerDefeated{Player: uint8(p)})
		}
	}
	if m := &l.now.Match; m.Ended != 0 && l.before.Match.Ended == 0 && m.Winner > 0 {
		tell(skirmish.MatchWon{Team: m.Winner - 1})
	}
}

// surely reports whether a place and all around it is in sight: what was there and is no longer is dead, and has not walked away.
func (l *look) surely(at fixed.Vec2) bool {
	for _, off := range [...]fixed.Vec2{{X: fixed.One}, {X: -fixed.One}, {Y: fixed.One}, {Y: -fixed.One}} {
		if !l.now.Sees(l.view.Team, at.Add(off)) {
			return false
		}
	}
	return true
}
