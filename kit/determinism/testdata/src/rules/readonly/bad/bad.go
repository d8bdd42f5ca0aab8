//samestep:deterministic
package bad

import (
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Dice   uint64
	Prices []uint32
	Units  []Unit
}

type Unit struct {
	Tired bool
	Path  []uint16
}

type Config struct{ Prices []uint32 }

func (w *World) draw() uint64 {
	w.Dice = w.Dice*6364136223846793005 + 1442695040888963407
	return w.Dice >> 33
}

func (w *World) unit(i int) *Unit { return &w.Units[i] }

func validate(w *World, config *Config, c *lockstep.Command) error {
	if w.draw()%2 == 0 { // want `readonly: `
		return errors.New("bad luck")
	}
	u := w.unit(0)
	u.Tired = true // want `readonly: `
	for _, u := range w.Units {
		clear(u.Path) // want `readonly: `
	}
	slices.Sort(config.Prices) // want `readonly: `
	c.Player = 0               // want `readonly: `
	return nil
}

func start(w *World, _ *lockstep.Settings, config *Config) error {
	w.Prices = config.Prices // want `readonly: `
	return nil
}

func step(w *World, config *Config, t *lockstep.Turn) {
	config.Prices[0]++ // want `readonly: `
}

var Rules = lockstep.Rules[World, Config]{New: start, Step: step, Validate: validate}

type View struct{ Seen []Unit }

func see(w *World, _ *Config, viewer lockstep.Viewer, v *View) error {
	v.Seen = append(v.Seen, *w.unit(0))
	return nil
}

func refuse(v *View, c *lockstep.Command) error {
	v.Seen[0].Tired = true // want `readonly: `
	return nil
}

var RulesWithViews = lockstep.Rules[World, Config]{Step: step, View: lockstep.View(see, refuse)}
