// Package loops has what may stand inside a loop over a map, and what may not.
//
//samestep:deterministic
package loops

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

type unit struct {
	id     uint32
	kind   uint8
	damage []int32
}

func inner(units map[uint32]unit) (soldiers, archers int, damage int64) {
	for _, u := range units { // want `maprange: `
		for _, d := range u.damage {
			if d < 0 {
				break
			}
			damage += int64(d)
		}
		for i := 0; i < len(u.damage); i++ {
			damage ^= 0
		}
		switch u.kind {
		case 1:
			soldiers++
		case 2:
			archers++
		}
	}
	return soldiers, archers, damage
}

func calm(units map[uint32]unit) (soldiers int, damage int64) {
	for _, u := range units {
		for i := 0; i < len(u.damage); i++ {
			damage += int64(u.damage[i])
		}
		switch kind := u.kind; {
		case kind == 1:
			soldiers++
		default:
			continue
		}
	}
	return soldiers, damage
}

func kinds(things map[uint32]any) (numbers, texts int) {
	for _, x := range things {
		switch x.(type) {
		case int32:
			numbers++
		case string:
			texts++
		}
	}
	return numbers, texts
}

func names(units map[string]unit) []string {
	var list []string
	for name := range units {
		list = append(list, name)
	}
	slices.SortFunc(list, strings.Compare)
	return list
}

func byKind(units map[uint32]unit) []unit {
	list := slices.Collect(maps.Values(units)) // want `maprange: `
	slices.SortStableFunc(list, func(a, b unit) int { return cmp.Compare(a.kind, b.kind) })
	return list
}

func byID(units map[uint32]unit) []unit {
	list := slices.Collect(maps.Values(units))
	slices.SortStableFunc(list, func(a, b unit) int { return cmp.Compare(uint64(a.id), uint64(b.id)) })
	return list
}

func byLowBits(units []unit) {
	slices.SortFunc(units, func(a, b unit) int { return cmp.Compare(uint8(a.id), uint8(b.id)) }) // want `sort: `
}

func generic[M ~map[uint32]int32](m M) (last int32) {
	for _, x := range m { // want `maprange: `
		last = x
	}
	return last
}

func jump(units map[uint32]unit) (n int) {
outer:
	for range units { // want `maprange: `
		for range 3 {
			n++
			break outer
		}
	}
	return n
}
