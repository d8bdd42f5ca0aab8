package skirmish

import "github.com/seed-49bee653/samestep/fixed"

const lookTicks = 8 // between two updates of a team's fog

// look updates the fog of the teams whose turn it is in this tick.
func (w *World) look() {
	for team := int(w.Match.Tick % lookTicks); team < len(w.Fog); team += lookTicks {
		w.reveal(uint8(team))
	}
}

func (w *World) reveal(team uint8) {
	fog, shape := &w.Fog[team], w.Map.shape()
	fog.Clear()
	for i := range w.Units {
		if u := &w.Units[i]; u.Team == team {
			fog.Look(shape, u.Pos, u.Kind.Traits().Sight)
		}
	}
	fog.Remember()
}

// Sees reports whether a team, or [Observers], sees a place.
func (w *World) Sees(team uint8, at fixed.Vec2) bool {
	if team == Observers {
		return w.anyShown(at, w.Sees)
	}
	return int(team) < len(w.Fog) && w.Fog[team].Sees(w.Map.shape(), at)
}

// Knows reports whether a team, or [Observers], has explored a place.
func (w *World) Knows(team uint8, at fixed.Vec2) bool {
	if team == Observers {
		return w.anyShown(at, w.Knows)
	}
	return int(team) < len(w.Fog) && w.Fog[team].Knows(w.Map.shape(), at)
}
