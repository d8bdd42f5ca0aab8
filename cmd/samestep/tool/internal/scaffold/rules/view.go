package rules

import (
	"errors"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A View is what a player sees: all diggers, where the own one walks, and the gold near it. Spectators see all gold.
type View struct {
	To      fixed.Vec2
	Diggers []Walker
	Gold    []fixed.Vec2
}

// A Walker is a digger that somebody sees.
type Walker struct {
	Owner uint8 `feed:"id"`
	At    fixed.Vec2
	Found uint32
}

// sight is how far a digger sees gold, in cells.
const sight = 40 * fixed.One

// see makes the view of a player or a spectator. It tells nothing else, also not by an error.
func see(w *World, _ *Config, viewer lockstep.Viewer, v *View) error {
	for i := range w.Diggers {
		d := &w.Diggers[i]
		v.Diggers = append(v.Diggers, Walker{uint8(d.Owner), d.At, d.Found})
	}
	if viewer.As == lockstep.AsSpectator {
		v.Gold = append(v.Gold, w.Gold...)
		return nil
	}
	if viewer.As != lockstep.AsPlayer || int(viewer.Number) >= len(w.Diggers) {
		return errors.New("players and spectators look")
	}
	own := &w.Diggers[viewer.Number]
	v.To = own.To
	for _, gold := range w.Gold {
		if own.At.InRange(gold, sight) {
			v.Gold = append(v.Gold, gold)
		}
	}
	return nil
}

// refuse refuses a command that makes no sense, and its player sees why. It knows what the player sees, so it cannot tell more.
// The world may change before the command runs, so step must not rely on it.
func refuse(v *View, c *lockstep.Command) error {
	if order, ok := c.Value.(*Walk); ok && order.at() == v.To {
		return errors.New("the digger walks there already")
	}
	return nil
}
