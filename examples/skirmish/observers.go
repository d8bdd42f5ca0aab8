package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Observers stands for a team in [World.Sees] and [World.Knows]: the observers, who see what the teams see that share
// their sight.
const Observers = 254

// Shows reports whether a team shares its sight with observers: all its undefeated players do, or the match is over.
// A player who does not share hides the sight of the whole team, because allies see the same.
func (w *World) Shows(team uint8) bool {
	members := 0
	for p := range w.Players {
		if player := &w.Players[p]; player.Team == team {
			if members++; player.Secret && player.Status != Defeated && w.Match.Ended == 0 {
				return false
			}
		}
	}
	return members > 0
}

// Open reports whether all teams share their sight. Observers then see the whole map.
func (w *World) Open() bool {
	for p := range w.Players {
		if !w.Shows(w.Players[p].Team) {
			return false
		}
	}
	return true
}

// anyShown reports whether sight is true for a team that shares its sight.
func (w *World) anyShown(at fixed.Vec2, sight func(team uint8, at fixed.Vec2) bool) bool {
	for team := range min(len(w.Fog), MaxPlayers) {
		if sight(uint8(team), at) && w.Shows(uint8(team)) {
			return true
		}
	}
	return false
}

func (w *World) checkPermit(p uint8, c *Permit) error {
	if w.Players[p].Secret != c.Observers {
		return ErrAlready
	}
	return nil
}

// permit carries out a Permit.
func (w *World) permit(p uint8, c *Permit) {
	if w.checkPermit(p, c) == nil {
		w.Players[p].Secret = !c.Observers
		lockstep.Emit(w.workspace.turn, SightPermitted{Player: p, Observers: c.Observers})
	}
}
