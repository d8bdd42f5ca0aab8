//samestep:deterministic
package good

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
	slices.SortFunc(units, func(a, b unit) int { return cmp.Or(cmp.Compare(a.health, b.health), cmp.Compare(a.id, b.id)) })
}

func inPlace(units []unit) {
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(a.health, b.health) })
}

type at struct{ x, y int32 }

func rows(places []at) {
	slices.SortFunc(places, func(a, b at) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x)) }) // all there is
}

func numbers(n []int32) {
	slices.Sort(n)
	sort.Slice(n, func(i, j int) bool { return n[i] > n[j] })
	slices.SortFunc(n, cmp.Compare)
}

type order []unit

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].id < o[j].id }
func (o order) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }

func byInterface(units []unit) { sort.Sort(order(units)) }

type team struct{ color, rank uint8 }

func byRank(teams []team) {
	//samestep:allow sort no two teams have one rank
	slices.SortFunc(teams, func(a, b team) int { return cmp.Compare(a.rank, b.rank) })
}
