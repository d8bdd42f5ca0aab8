// Package game holds a Step: only what that reaches is looked at.
package game

import (
	"scope/helper"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct{ Seed int64 }

type Config struct{}

func Rules() lockstep.Rules[World, Config] {
	began := time.Now() // not part of the simulation
	_ = began
	r := lockstep.Rules[World, Config]{
		New:      func(w *World, _ *lockstep.Settings, _ *Config) error { w.Seed = time.Now().Unix(); return nil }, // want `clock: time.Now: `
		Step:     step,
		Describe: func(*lockstep.Command) string { return time.Now().String() },
		SelfTest: func() uint64 { return uint64(time.Now().Unix()) }, // want `clock: time.Now: `
	}
	r.Derive = (*World).derive
	r.Validate = validator(3)
	return r
}

func step(w *World, _ *Config, t *lockstep.Turn) {
	w.Seed = helper.Seed() // want `clock: helper.Seed leads to time.Now \(helper.go:9\)`
	w.Seed = helper.Zero()
	w.Seed = helper.Last // want `global: `
	if helper.Forgiven() {
		return
	}
	for _, f := range passes {
		f(w)
	}
	tell(helper.Clock{})
	apply(w, func(w *World) { w.Seed = time.Now().Unix() }) // want `clock: `
	twice(counter(1))
}

type teller interface{ Tell() int64 }

func tell(t teller) int64 {
	return t.Tell() // want `clock: helper.Tell leads to`
}

func apply(w *World, f func(*World)) { f(w) }

var passes = []func(*World){first, second}

func first(w *World) { w.Seed++ }

func second(w *World) {
	w.Seed = time.Now().Unix() // want `clock: `
}

func (w *World) derive(*Config) {
	w.Seed = time.Now().Unix() // want `clock: `
}

func validator(n int) func(*World, *Config, *lockstep.Command) error {
	return func(*World, *Config, *lockstep.Command) error {
		time.Sleep(1) // want `clock: `
		return nil
	}
}

type counter int32

func (c counter) count() int64 {
	return time.Now().Unix() // want `clock: `
}

func twice[C interface{ count() int64 }](c C) int64 { return c.count() + c.count() }

func draw() {
	time.Sleep(1) // drawing may
}

//samestep:deterministic
func bot() int64 {
	return time.Now().Unix() // want `clock: `
}
