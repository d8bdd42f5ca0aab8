// Package shared changes variables of the package behind local ones.
//
//samestep:deterministic
package shared

import (
	"fmt"
	"slices"
)

type unit struct{ health int32 }

func (u *unit) hit() { u.health-- }

var (
	orders   []uint32
	cache    = map[uint32]uint32{}
	registry = map[uint32]*unit{}
	defaults = []uint32{3, 1, 2}
	kinds    = [2]unit{{10}, {20}}
)

func push() {
	queue := orders // want `global: `
	queue[0] = 1    // want `global: `
}

func drop(k uint32) {
	all := cache   // want `global: `
	delete(all, k) // want `global: `
}

func arrange() {
	queue := orders[1:] // want `global: `
	slices.Sort(queue)  // want `global: `
}

func heal(k uint32) {
	u := registry[k] // want `global: `
	u.health++       // want `global: `
}

func healAll(keys []uint32) {
	units := registry // want `global: `
	for _, k := range keys {
		u := units[k]
		u.hit() // want `global: `
	}
}

func healEach() {
	for _, u := range registry { // want `global: `
		u.health++ // want `global: `
	}
}

// What is read, copied, or set anew is no change.

func start() []uint32 {
	own := slices.Clone(defaults)
	own[0] = 9
	slices.Sort(own)
	return own
}

func total() (n uint32) {
	all := defaults
	for i := range all {
		n += all[i]
	}
	all = nil
	return n
}

func first() unit {
	k := kinds[0]
	k.health = 5
	return k
}

func healGiven(units []*unit) {
	for _, u := range units {
		u.health++
	}
}

func grow(more []uint32) []uint32 {
	list := more
	for i := range list {
		list[i]++
	}
	return list
}

// Addresses are found in the format, whoever prints them.

func note(format string, values ...any) { last = fmt.Sprintf(format, values...) } // want `global: `

var last string

func tell(u *unit) {
	note("unit %p", u) // want `pointer: `
	note("unit %d of 100%%", u.health)
}
