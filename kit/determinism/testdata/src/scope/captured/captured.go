// Package captured has functions of rules that are made by others, around others.
package captured

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Gold uint32 }

type Config struct{}

type step = func(*World, *Config, *lockstep.Turn)

type cache struct {
	last  uint32
	seen  map[uint32]bool
	names []string
}

func (c *cache) note(w *World, _ *Config, t *lockstep.Turn) { c.deeper(w.Gold) }
func (c *cache) deeper(gold uint32)                         { c.seen[gold] = true }
func (c *cache) read(w *World, _ *Config, t *lockstep.Turn) { w.Gold += uint32(len(c.names)) }
func (c cache) own(w *World, _ *Config, t *lockstep.Turn)   { c.last++; w.Gold = c.last }
func (w *World) advance(_ *Config, t *lockstep.Turn)        { w.Gold++ }
func plain(w *World, _ *Config, t *lockstep.Turn)           { w.Gold++ }
func change(c *cache)                                       { c.last++ }
func around(inner step, more ...step) step                  { return twice(inner) }
func twice(inner step) step {
	return func(w *World, _ *Config, t *lockstep.Turn) { inner(w, nil, t); inner(w, nil, t) }
}
func endless(inner step) step { return endless(inner) }
func New() (r lockstep.Rules[World, Config], c *cache) {
	c = &cache{}
	r.Step = c.note // want `captured: seen of c is changed`
	r.Step = c.read
	r.Step = c.own
	r.Step = (*World).advance_
	r.Step = endless(around(plain, counted())) // of counted
	value := cache{}
	r.Step = around(func(w *World, _ *Config, t *lockstep.Turn) {
		change(&value) // want `captured: the captured variable value is changed`
		c.last = 1     // want `captured: the captured variable c is changed`
		var own cache
		change(&own)
		own.last++
	})
	return r, c
}

func (w *World) advance_(_ *Config, t *lockstep.Turn) {}

func counted() step {
	n := uint32(0)
	f := func(w *World, _ *Config, t *lockstep.Turn) {
		n++ // want `captured: the captured variable n is changed`
	}
	return f
}
