// Package alias lets the state share memory with the configuration.
package alias

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Options Config
	Rows    [][]uint8
	Prices  []uint32
	Costs   Costs
	Seed    uint64
	Name    string
	fast    []uint32 `state:"derived"`
}

type Kept struct {
	Options Config
	Level   uint8
	Cost    Cached
}

type Cached struct {
	Level uint8
	sums  []uint32 `state:"derived"`
}

// Functions that call each other.
func (w *World) ping(c *Config, n int) {
	if n > 0 {
		w.pong(c, n-1)
	}
}

func (w *World) pong(c *Config, n int) { w.ping(c, n); w.Prices = c.Prices }

type Costs struct {
	Level uint8
	List  []uint32
}

type Config struct {
	Name   string
	Prices []uint32
	Rows   [][]uint8
	Costs  Costs
	Level  uint8
}

func (w *World) price(list []uint32) { w.Prices = list }

func (c *Config) list() []uint32 { return c.Prices[1:] }

func (w *World) take(c *Config) { w.price(c.list()) }

func start(w *World, s *lockstep.Settings, c *Config) error {
	w.Options = *c                  // want `readonly: w.Options shares memory with \*c in New`
	w.Prices = c.Prices[:2]         // want `readonly: `
	w.Costs = Costs{List: c.Prices} // want `readonly: `
	list := c.Costs.List
	w.Prices = list                    // want `readonly: `
	w.price(c.Prices)                  // want `readonly: w.price lets the state share memory with c.Prices in New`
	w.ping(c, 3)                       // want `readonly: `
	w.take(c)                          // want `readonly: `
	w.Rows = append(w.Rows, c.Rows[0]) // want `readonly: `
	w.Rows = append(w.Rows, c.Rows...) // want `readonly: `
	*w = World{Prices: c.Prices}       // want `readonly: `
	return nil
}

func step(w *World, c *Config, t *lockstep.Turn) {
	if t.Tick == 7 {
		w.Prices = c.Prices // want `readonly: w.Prices shares memory with c.Prices in Step`
	}
}

var Rules = lockstep.Rules[World, Config]{New: start, Step: step}

func startGood(w *World, s *lockstep.Settings, c *Config) error {
	w.Seed, w.Name, w.Costs.Level = s.Seed, c.Name, c.Level
	w.Prices = append(w.Prices, c.Prices...)
	w.Prices = append([]uint32(nil), c.Prices...)
	w.price(slices.Clone(c.Prices))
	w.fast = c.Prices
	own := c.Costs
	own.List = slices.Clone(own.List)
	level := c.Costs.Level
	w.Costs = Costs{Level: level}
	w.Rows = make([][]uint8, len(c.Rows))
	for i, row := range c.Rows {
		w.Rows[i] = slices.Clone(row)
	}
	return nil
}

func stepGood(w *World, c *Config, t *lockstep.Turn) {
	w.Seed += uint64(c.Prices[0])
	w.Prices = w.Prices[:0]
}

var Good = lockstep.Rules[World, Config]{New: startGood, Step: stepGood}

type Other struct {
	Level uint8
	sums  []uint32 `state:"derived"`
	List  []uint8
}

func startKept(w *Kept, s *lockstep.Settings, c *Other) error {
	w.Cost = Cached{c.Level, c.sums}
	return nil
}

func startCopied(w *World, s *lockstep.Settings, c *Config) error {
	w.Options = *c
	w.Options.Prices, w.Options.Rows = slices.Clone(c.Prices), nil
	w.Options.Costs.List = nil
	return nil
}

var Copied = lockstep.Rules[World, Config]{New: startCopied, Step: stepGood}
