//samestep:deterministic
package bad

import "sync"

var count, hidden uint32

var cache = map[uint32]uint32{}

func next() uint32 {
	count++ // want `global: `
	return 1
}

func cached(x uint32) {
	cache[x] = x * x // want `global: `
}

func Hide(x uint32) { hidden = x } // want `global: `

func reads() uint32 {
	return hidden // want `global: `
}

type unit struct{ health int32 }

var template unit

func (u *unit) hit() { u.health-- }

func strike() {
	template.hit() // want `global: `
}

func later() func() {
	return template.hit // want `global: `
}

func leak() *unit {
	return &template // want `global: `
}

var known sync.Map

func learn(id uint32) bool {
	_, old := known.LoadOrStore(id, true) // want `global: `
	return old
}
