//samestep:deterministic
package bad

import (
	"maps"
	"slices"
)

func first(units map[uint32]int32) uint32 {
	for id := range units { // want `maprange: `
		return id
	}
	return 0
}

func list(units map[uint32]int32) []uint32 {
	var ids []uint32
	for id := range units { // want `maprange: `
		ids = append(ids, id)
	}
	return ids
}

func weakest(units map[uint32]int32) (weakest uint32) {
	least := int32(1 << 30)
	for id, health := range units { // want `maprange: `
		if health < least {
			least, weakest = health, id
		}
	}
	return weakest
}

func spend(gold uint32, wishes map[uint8]uint32) uint32 {
	for _, price := range wishes { // want `maprange: `
		if price <= gold {
			gold -= price
		}
	}
	return gold
}

func hash(units map[uint32]int32) (h uint32) {
	for id := range maps.Keys(units) { // want `maprange: `
		h = h*31 + id
	}
	return h
}

func values(units map[uint32]int32) []int32 {
	return slices.Collect(maps.Values(units)) // want `maprange: `
}

func last(units map[uint32]int32) (id uint32) {
	for id = range units { // want `maprange: `
	}
	return id
}

func ring(bells map[string]func()) {
	for _, bell := range bells { // want `maprange: `
		bell()
	}
}

func words(names map[uint8]string) (all string) {
	for _, name := range names { // want `maprange: `
		all += name
	}
	return all
}

func winner(votes map[uint8]uint32) (best uint8) {
	most := uint32(0)
	for player, n := range votes { // want `maprange: `
		if n >= most {
			most = n
			best = player
		}
	}
	return best
}

func mixed(units map[uint32]int32) (n int32) {
	for _, health := range units { // want `maprange: `
		n += health
		n ^= health
	}
	return n
}

func stop(units map[uint32]int32) (n int32) {
	for _, health := range units { // want `maprange: `
		if health == 0 {
			break
		}
		n++
	}
	return n
}
