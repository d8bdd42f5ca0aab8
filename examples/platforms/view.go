package platforms

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A View is what everybody sees of a world: where the units are, and not how they move.
type View struct{ Units []Seen }

// A Seen is a unit in a view.
type Seen struct {
	ID   uint64 `feed:"id"`
	X, Y int64
}

// viewOf lets all players and spectators share one view.
func viewOf(*World, lockstep.Player) lockstep.Viewer { return lockstep.Viewer{} }

// see fills a view, which is the same for every viewer.
func see(w *World, _ *Config, _ lockstep.Viewer, v *View) error {
	for p := range w.Units {
		u := &w.Units[p]
		v.Units = append(v.Units, Seen{uint64(w.UnitID(lockstep.Player(p))), u.X, u.Y})
	}
	return nil
}

// refuse refuses commands that no player has a reason to give.
func refuse(v *View, c *lockstep.Command) error {
	o, ok := orderOf(c)
	if !ok {
		return nil
	}
	if n := len(o.Targets); n < 1 || n > MaxTargets {
		return fmt.Errorf("%w: got %d, want 1 to %d", ErrTargets, n, MaxTargets)
	}
	if !slices.IsSorted(o.Targets) {
		return fmt.Errorf("%w: want them in ascending order", ErrTargets)
	}
	if m, ok := c.Value.(*Move); ok && m.X != o.X {
		return fmt.Errorf("%w: got %d, want -1, 0 or 1", ErrDirection, m.X)
	}
	for _, id := range o.Targets {
		if o.Kind == KindJump && !v.has(id) {
			return fmt.Errorf("%w: got %d for a jump, want a unit's", ErrTargets, id)
		}
	}
	return nil
}

// has reports whether an ID is that of a unit.
func (v *View) has(id uint64) bool {
	return slices.ContainsFunc(v.Units, func(u Seen) bool { return u.ID == id })
}
