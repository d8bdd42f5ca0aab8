package skirmish

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// No view tells what its viewer must not know.
func TestViewsKeepSecrets(t *testing.T) {
	config := Sized(4, 60)
	config.Teams = 2
	locksteptest.CheckView(t, lockstep.MustGame(Rules()), locksteptest.Options{Config: &config, Every: 40}, locksteptest.Secrecy[World]{
		Viewers: []lockstep.Viewer{{As: lockstep.AsPlayer, Number: 1}, {As: lockstep.AsTeam}, {}},
		Hidden:  hiddenFrom,
	})
}

// hiddenFrom returns the fields that a viewer must not learn. It says it field by field, and see asks for the units.
func hiddenFrom(w *World, viewer lockstep.Viewer) (paths []string) {
	team := viewer.Number
	switch viewer.As {
	case lockstep.AsPlayer:
		team = w.Players[viewer.Number].Team
	case lockstep.AsSpectator:
		team = Observers
	}
	all := team == Observers && w.Open()
	knows := func(at fixed.Vec2) bool { return all || w.Knows(team, at) }
	sees := func(at fixed.Vec2) bool { return all || w.Sees(team, at) }
	hide := func(format string, at int, fields ...string) {
		for _, f := range fields {
			paths = append(paths, fmt.Sprintf(format, at)+f)
		}
	}
	paths = append(paths, "Match.Seed", "Match.NextID", "Rand", "Paths")
	if w.Match.Ended == 0 {
		paths = append(paths, "Samples")
	}
	for _, f := range []string{"Units", "Size", "Crystals", "Obstacles", "Workers", "Zones", "Observers", "Map"} {
		paths = append(paths, "Config."+f)
	}
	for p := range w.Players {
		hide("Players[%d].", p, "Gathered", "Buildings")
		if w.Players[p].Team != team {
			hide("Players[%d].", p, "Settled", "Resigns")
		}
		if !w.shares(team, w.Players[p].Team) {
			hide("Players[%d].", p, "Crystals", "Kills", "Losses", "Units")
		}
	}
	known := map[int]bool{} // words of the map of which a cell is explored
	for f := range w.Fog {
		if !w.shares(team, uint8(f)) {
			hide("Fog[%d]", f, "")
			continue
		}
		for i, word := range w.Fog[f].Explored {
			known[i] = known[i] || word != 0
		}
	}
	for i := range w.Map.Blocked {
		if !known[i] && !all {
			hide("Map.Blocked[%d]", i, "")
		}
	}
	for i := range w.Units {
		u := &w.Units[i]
		if w.shares(team, u.Team) {
			continue
		}
		hide("Units[%d].", i, "Goal", "Home", "Target", "Via", "Work", "Source", "Kills", "Then", "Task", "Phase", "Next", "Group", "Cargo", "Stuck", "Zone", "Slot", "Direct", "Making", "Queue", "Cooldown")
		if !sees(u.Pos) {
			hide("Units[%d].", i, "ID", "Health", "Kind", "Owner", "Built")
		}
	}
	for i := range w.Crystals {
		switch pos := w.Crystals[i].Pos; {
		case !knows(pos):
			hide("Crystals[%d].", i, "Amount", "Full")
		case !sees(pos):
			hide("Crystals[%d].", i, "Amount")
		}
	}
	for i := range w.Zones {
		hide("Zones[%d].", i, "Exit")
		if pos := w.Zones[i].Pos; !knows(pos) {
			hide("Zones[%d].", i, "Radius", "Kind", "Ready", "Holder")
		} else if !sees(pos) {
			hide("Zones[%d].", i, "Ready", "Holder")
		}
	}
	return paths
}
