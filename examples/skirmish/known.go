package skirmish

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// nowhere is the place of what a viewer does not know. No team sees it.
var nowhere = fixed.Vec2{X: -fixed.One, Y: -fixed.One}

// Know sets w to what a viewer knows at a tick, so that whatever reads a state can read a view. Buildings that were in sight
// before stay, until the viewer sees that they are gone. Fields that a view does not have are zero. w is no state to step.
func (w *World) Know(v *View, tick lockstep.Tick) {
	before := w.Map.Size
	w.Match = Match{Tick: uint32(tick), Ended: v.Ended, Winner: v.Winner}
	w.Config = Config{Cap: v.Cap, Teams: v.Teams, Diplomacy: v.Diplomacy}
	w.Map.Size = min(v.Size, MaxSize)
	changed := w.Map.Size != before || !slices.Equal(w.Map.Blocked, v.Rock)
	w.Map.Blocked = w.cover(w.Map.Blocked, v.Rock)
	w.knowPlayers(v)
	w.knowUnits(v)
	w.Crystals = w.Crystals[:0]
	for _, d := range v.Crystals {
		for len(w.Crystals) < int(d.ID) {
			w.Crystals = append(w.Crystals, Crystal{Pos: nowhere})
		}
		w.Crystals = append(w.Crystals, Crystal{Pos: d.Pos, Amount: d.Amount, Full: d.Full})
	}
	w.Zones = w.Zones[:0]
	for _, p := range v.Places {
		for len(w.Zones) < int(p.ID) {
			w.Zones = append(w.Zones, Zone{Pos: nowhere})
		}
		z := Zone{Pos: p.Pos, Radius: p.Radius, Kind: p.Kind, Holder: p.Holder}
		if p.Resting {
			z.Ready = w.Match.Tick + 1
		}
		w.Zones = append(w.Zones, z)
	}
	w.Samples = append(w.Samples[:0], v.Samples...)
	if changed {
		derive(w)
	} else {
		w.index()
	}
}

// knowPlayers sets the players, and the fog of the team that sees, or of one that shows the observers what all show them.
func (w *World) knowPlayers(v *View) {
	w.Players = w.Players[:0]
	teams, shown := 0, -1
	for _, s := range v.Players {
		w.Players = append(w.Players, Player{
			Team: s.Team, Status: s.Status, Crystals: s.Crystals, Units: s.Units, Kills: s.Kills, Losses: s.Losses,
			Offers: s.Offers, Settled: s.Settled, Resigns: s.Resigns, Secret: s.Secret,
		})
		teams = min(max(teams, int(s.Team)+1), MaxPlayers)
	}
	w.Fog = slices.Grow(w.Fog[:0], teams)[:teams]
	for t := range w.Fog {
		f := &w.Fog[t]
		var visible, explored []uint64
		if sees := t == int(v.Team); sees || v.Team == Observers && shown < 0 && w.Shows(uint8(t)) {
			shown, visible, explored = t, v.Visible, v.Explored
		}
		f.Visible, f.Explored = w.cover(f.Visible, visible), w.cover(f.Explored, explored)
	}
}

// cover sets dst to bits for exactly the cells of the map.
func (w *World) cover(dst grid.Bits, bits []uint64) grid.Bits {
	words := w.Map.shape().Words()
	dst = append(dst[:0], bits[:min(len(bits), words)]...)
	for len(dst) < words {
		dst = append(dst, 0)
	}
	return dst
}

// knowUnits sets the units: those in sight, and the buildings that were and whose places are not.
func (w *World) knowUnits(v *View) {
	old := &w.workspace.births // no unit is born here
	*old = append((*old)[:0], w.Units...)
	w.Units = w.Units[:0]
	remembered := *old
	remember := func(until UnitID) {
		for len(remembered) > 0 && remembered[0].ID < until {
			if u := &remembered[0]; u.Kind.Building() && u.Team != v.Team && !w.Sees(v.Team, u.Pos) {
				w.Units = append(w.Units, *u)
			}
			remembered = remembered[1:]
		}
	}
	for _, s := range v.Units {
		remember(s.ID)
		if len(remembered) > 0 && remembered[0].ID == s.ID {
			remembered = remembered[1:]
		}
		u := Unit{
			ID: s.ID, Pos: s.Pos, Goal: s.Pos, Home: s.Pos, Health: s.Health, Kind: s.Kind, Owner: s.Owner, Team: w.player(s.Owner).Team, Built: s.Built,
			Task: s.Task, Making: s.Making, Queue: s.Queue, Group: s.Group, Work: s.Work, Slot: fieldless,
		}
		if s.Carrying {
			u.Cargo = 1
		}
		if s.Working {
			u.Work = 1
		}
		if s.Fights {
			u.Target = s.ID // at whom is not known
		}
		w.Units = append(w.Units, u)
	}
	remember(1<<32 - 1)
	*old = (*old)[:0]
}
