//samestep:deterministic
package bad

import (
	"cmp"
	"slices"
	"sort"
)

type unit struct {
	id     uint32
	health int32
}

func byHealth(units []unit) {
	slices.SortFunc(units, func(a, b unit) int { return cmp.Compare(a.health, b.health) }) // want `sort: `
}

func byTens(numbers []int32) {
	sort.Slice(numbers, func(i, j int) bool { return numbers[i]/10 < numbers[j]/10 }) // want `sort: `
}

type order []unit

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].health < o[j].health }
func (o order) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }

func byInterface(units []unit) {
	sort.Sort(order(units)) // want `sort: `
}
