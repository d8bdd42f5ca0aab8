//samestep:deterministic
package good

import (
	"errors"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Dice   uint64
	Prices []uint32
	Units  []Unit
	seen   []bool `state:"derived"` // no state: Validate may use it
}

type Unit struct {
	Tired bool
	Goal  uint16
}

type Config struct{ Prices []uint32 }

func (w *World) draw() uint64 {
	w.Dice = w.Dice*6364136223846793005 + 1442695040888963407
	return w.Dice >> 33
}

func (u *Unit) move(to uint16) { u.Goal, u.Tired = to, true }

func validate(w *World, config *Config, c *lockstep.Command) error {
	u := w.Units[0] // a copy
	u.move(3)
	prices := slices.Clone(config.Prices)
	slices.Sort(prices)
	clear(w.seen)
	if u.Tired && prices[0] > 7 || !sort.SliceIsSorted(config.Prices, func(i, j int) bool { return config.Prices[i] < config.Prices[j] }) {
		return errors.New("no")
	}
	return nil
}

func start(w *World, _ *lockstep.Settings, config *Config) error {
	w.Prices = slices.Clone(config.Prices)
	return nil
}

func step(w *World, config *Config, t *lockstep.Turn) {
	w.Units[w.draw()%2].move(uint16(config.Prices[0]))
}

var Rules = lockstep.Rules[World, Config]{New: start, Step: step, Validate: validate}
