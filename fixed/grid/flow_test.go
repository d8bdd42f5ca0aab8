package grid_test

import (
	"hash/fnv"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// maps calls f with small random maps: open ones, dense ones, narrow ones, and some wider than a word of bits.
func maps(t *testing.T, f func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits)) {
	for seed, row := range []struct {
		columns, rows uint16
		percent       uint32
	}{{1, 1, 0}, {5, 1, 0}, {1, 7, 20}, {8, 8, 0}, {12, 9, 30}, {64, 5, 20}, {65, 6, 25}, {31, 17, 45}, {130, 7, 15}, {20, 20, 10}} {
		n, s, walls := random(uint64(seed), row.columns, row.rows, row.percent)
		f(t, uint64(seed), n, s, walls)
	}
}

// The costs of fields equal those from relaxing all cells, and the directions lead to the goal at exactly that cost.
func TestCosts(t *testing.T) {
	maps(t, func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits) {
		var terrain grid.Terrain
		var paths grid.Paths
		g, dice := terrain.Ground(s, walls), fixed.NewRand(seed)
		for range 5 {
			goal := grid.Cell(dice.N(uint32(s.Cells())))
			want := n.costs(int(goal))
			for c := range want {
				at := grid.Cell(c)
				cost, ok := paths.Cost(g, goal, at)
				if ok != (want[c] >= 0) || ok && int(cost) != want[c] {
					t.Fatalf("map %d: cell %d to %d costs %d %v, want %d", seed, c, goal, cost, ok, want[c])
				}
				for left := want[c]; left > 0; left = want[at] {
					next, ok := paths.Next(g, goal, at)
					if !ok || left-want[next] != stepCost(s, at, next) {
						t.Fatalf("map %d: from %d to %d: a step from %d to %d, %v", seed, c, goal, at, next, ok)
					}
					at = next
				}
				if next, ok := paths.Next(g, goal, at); ok || next != at {
					t.Fatalf("map %d: cell %d, goal %d: leads to %d", seed, at, goal, next)
				}
			}
		}
	})
}

func stepCost(s grid.Shape, a, b grid.Cell) int {
	ax, ay := s.XY(a)
	bx, by := s.XY(b)
	return int((ax-bx)*(ax-bx)+(ay-by)*(ay-by)) + 1
}

// A field is the same in any pieces, and has as many steps as it was asked for.
func TestFlowInPieces(t *testing.T) {
	maps(t, func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits) {
		var terrain grid.Terrain
		var pieces, whole grid.Flow
		g, goal := terrain.Ground(s, walls), grid.Cell(s.Cells()/2)
		last := whole.Run(g, goal, 1<<31)
		for steps := uint32(0); steps < last; steps += 1 + steps/8 {
			whole.Run(g, goal, steps)
			if got := pieces.Run(g, goal, steps); got != steps {
				t.Fatalf("map %d: %d steps, want %d", seed, got, steps)
			}
			for c := range grid.Cell(s.Cells()) {
				a, _ := pieces.Known(c)
				if b, _ := whole.Known(c); a != b {
					t.Fatalf("map %d: after %d steps cell %d leads to %d, want %d", seed, steps, c, a, b)
				}
			}
			whole = grid.Flow{}
		}
	})
}

// The directions are part of the format of replays. The sum was computed from the fields of the example game before this
// package existed, whose golden replays contain them.
func TestFlowVector(t *testing.T) {
	_, s, walls := random(11, 48, 48, 25)
	for i := range int32(48) { // that game closes the edge
		for _, at := range [][2]int32{{0, i}, {47, i}, {i, 0}, {i, 47}} {
			walls.Put(s, at[0], at[1], true)
		}
	}
	var terrain grid.Terrain
	var flow grid.Flow
	sum, g := fnv.New64a(), terrain.Ground(s, walls)
	for _, steps := range []uint32{50, 400, 1 << 20} {
		flow.Run(g, 1176, steps)
		for c := range grid.Cell(s.Cells()) {
			next, ok := flow.Known(c)
			sum.Write([]byte{byte(next), byte(next >> 8)})
			if !ok && next != c {
				t.Fatalf("cell %d leads to %d, and nowhere", c, next)
			}
		}
	}
	if got := sum.Sum64(); got != 0x6f4f103aff268d3e {
		t.Errorf("sum %#x, want 0x6f4f103aff268d3e", got)
	}
}

// A way that is too long for a field has no direction, and its cells cost nothing else.
func TestMaxCost(t *testing.T) {
	s := grid.Shape{Columns: 600, Rows: 301}
	walls := s.NewBits()
	for y := int32(1); y < 301; y += 2 { // one way to and fro
		walls.Row(s, y, 0, 599)
		walls.Put(s, y/2%2*599, y, false)
	}
	var terrain grid.Terrain
	var paths grid.Paths
	g, far := terrain.Ground(s, walls), 0
	costOf := func(c grid.Cell) int {
		cost, ok := paths.Cost(g, 0, c)
		if ok && cost > grid.MaxCost {
			t.Fatalf("cell %d costs %d", c, cost)
		}
		far = max(far, int(cost))
		return int(cost)
	}
	every := grid.Cell(1)
	if testenv.Small(t) {
		every = 16 // a cost takes time for each cell of the way
	}
	for c := grid.Cell(0); int(c) < s.Cells(); c += every {
		if costOf(c) < grid.MaxCost-int(every)*grid.Diagonal {
			continue
		}
		for near := c - every + 1; near < c+every; near++ {
			costOf(near)
		}
	}
	if far != grid.MaxCost {
		t.Errorf("the farthest cell costs %d, want %d", far, grid.MaxCost)
	}
}
