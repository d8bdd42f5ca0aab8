package grid_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A search finds the way of a naive version, and a shortest one.
func TestSearch(t *testing.T) {
	maps(t, func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits) {
		var terrain grid.Terrain
		var search grid.Search
		g, dice := terrain.Ground(s, walls), fixed.NewRand(seed)
		for range 12 {
			from, to := grid.Cell(dice.N(uint32(s.Cells()))), grid.Cell(dice.N(uint32(s.Cells())))
			way, ok := search.Find(g, from, to, nil)
			costs := n.costs(int(to))
			if !n.open[from] || !n.open[to] {
				costs[from] = -1
			}
			if ok != (costs[from] >= 0) {
				t.Fatalf("map %d: %d to %d: found is %v, cost %d", seed, from, to, ok, costs[from])
			}
			if !ok {
				continue
			}
			want := n.search(int(from), int(to))
			if !slices.EqualFunc(way, want, func(a grid.Cell, b int) bool { return int(a) == b }) {
				t.Fatalf("map %d: %d to %d: way %v, want %v", seed, from, to, way, want)
			}
			cost, at := 0, from
			for _, next := range way {
				cost += stepCost(s, at, next)
				at = next
			}
			if cost != costs[from] || at != to {
				t.Fatalf("map %d: %d to %d: way %v costs %d, want %d", seed, from, to, way, cost, costs[from])
			}
		}
	})
}

// The limit is the number of cells that a search visits.
func TestSearchLimit(t *testing.T) {
	s := grid.Shape{Columns: 30, Rows: 1}
	var terrain grid.Terrain
	g := terrain.Ground(s, s.NewBits())
	for limit := uint32(1); limit < 40; limit++ {
		search := grid.Search{Limit: limit}
		path, ok := search.Find(g, 0, 20, []grid.Cell{7})
		if ok != (limit > 20) || path[0] != 7 || ok && len(path) != 21 || !ok && len(path) != 1 {
			t.Errorf("limit %d: %v %v", limit, path, ok)
		}
	}
}

// Cells outside of the map, and maps without cells, lead nowhere.
func TestNowhere(t *testing.T) {
	var terrain grid.Terrain
	var search grid.Search
	var paths grid.Paths
	for _, s := range []grid.Shape{{}, {Columns: 3}, {Rows: 3}, {Columns: 2, Rows: 2}, {Columns: 65535, Rows: 1}} {
		g := terrain.Ground(s, s.NewBits())
		for _, c := range [][2]grid.Cell{{0, 99999}, {99999, 0}, {1 << 31, 1<<32 - 1}} {
			if path, ok := search.Find(g, c[0], c[1], nil); ok {
				t.Errorf("%v: way %v", s, path)
			}
			if next, ok := paths.Next(g, c[0], c[1]); ok {
				t.Errorf("%v: next %v", s, next)
			}
			if _, ok := g.Nearest(c[1], 3); ok && s.Cells() == 0 {
				t.Errorf("%v: there is an open cell", s)
			}
			s.At(s.Center(c[1]))
		}
		far := fixed.Vec2{X: fixed.MinQ, Y: fixed.MaxQ}
		if g.Free(far) || g.Sees(far, far) || g.Open(g.Shape().At(far)) && s.Cells() == 0 {
			t.Errorf("%v: %v is free", s, far)
		}
	}
}
