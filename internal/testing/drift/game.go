// Package drift is a match of real Hosts and Clients in virtual time, whose last client may have other rules or an
// altered memory, and a game for it.
package drift

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A World is a small state in which every change goes on to change all that follows.
type World struct {
	Seed  uint64
	Loot  fixed.Rand // drawn from once in each tick
	Spots []Spot
}

// A Spot moves at random.
type Spot struct{ ID, X, Y int32 }

// Nudge moves the spot of a player.
type Nudge struct{ By int16 }

// Rules are the rules of a game, with a change after each step; nil changes nothing.
func Rules(change func(w *World, t *lockstep.Turn)) lockstep.Rules[World, struct{}] {
	return lockstep.Rules[World, struct{}]{
		Name: "drift", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Nudge](1, "nudge")},
		New: func(w *World, s *lockstep.Settings, _ *struct{}) error {
			w.Seed, w.Loot = s.Seed, fixed.NewStream(s.Seed, "loot")
			for i := range int32(8) {
				w.Spots = append(w.Spots, Spot{ID: i})
			}
			return nil
		},
		Step: func(w *World, _ *struct{}, t *lockstep.Turn) {
			t.Phase("nudge")
			for i := range t.Commands {
				if n, ok := t.Commands[i].Value.(*Nudge); ok {
					w.Spots[t.Commands[i].Player].X += int32(n.By)
				}
			}
			t.Phase("drift")
			w.Loot.Uint64()
			for i := range w.Spots {
				w.Seed = w.Seed*6364136223846793005 + 1442695040888963407
				w.Spots[i].X += int32(w.Seed >> 60)
				w.Spots[i].Y = w.Spots[i].Y*3 + w.Spots[i].X
			}
			t.Phase("change")
			if change != nil {
				change(w, t)
			}
			t.Phase("end")
		},
	}
}
