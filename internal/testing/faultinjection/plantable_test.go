package faultinjection_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/lockstep"
)

type meadow struct{ Cells []uint32 }

// The search in a large state has an end: who waits for it cannot answer a server meanwhile.
func TestFieldOfLargeState(t *testing.T) {
	for _, row := range []struct {
		cells, most int // steps
		lasts       bool
	}{{50, 500 * 40, false}, {120_000, 40 * 40, false}, {120_000, 40 * 40, true}} {
		steps := 0
		g := lockstep.MustGame(lockstep.Rules[meadow, struct{}]{
			Name: "meadow", Build: "1",
			New: func(w *meadow, _ *lockstep.Settings, _ *struct{}) error {
				w.Cells = make([]uint32, row.cells)
				return nil
			},
			Step: func(w *meadow, _ *struct{}, turn *lockstep.Turn) {
				steps++
				if row.lasts { // and spreads
					w.Cells[0] += w.Cells[len(w.Cells)-1] + w.Cells[len(w.Cells)/2]
					return
				}
				for i := range w.Cells {
					w.Cells[i] = uint32(turn.Tick)
				}
			},
		})
		h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		path, err := faultinjection.FieldThatLasts(g, sim)
		if row.lasts != (path != "") || !row.lasts && !errors.Is(err, faultinjection.ErrNothingLasts) || steps > row.most {
			t.Errorf("%d cells: got %q, %v after %d steps, want at most %d", row.cells, path, err, steps, row.most)
		}
	}
}
