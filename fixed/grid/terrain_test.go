package grid_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A ground is open where the cells say so, after any changes, and leads the same ways as a new one.
func TestGround(t *testing.T) {
	var terrain grid.Terrain
	maps(t, func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits) {
		dice := fixed.NewRand(seed)
		for range 20 {
			g := terrain.Ground(s, walls)
			for y := int32(-1); y <= int32(s.Rows); y++ {
				for x := int32(-1); x <= int32(s.Columns); x++ {
					want := n.isOpen(int(x), int(y))
					at := fixed.Vec2{X: fixed.Q(x)<<32 + fixed.Q(dice.Uint32()), Y: fixed.Q(y)<<32 + fixed.Q(dice.Uint32())}
					if g.Free(at) != want || s.Contains(x, y) && (g.Open(s.Cell(x, y)) != want || s.At(at) != s.Cell(x, y) || walls.HasAt(s, at) == want) {
						t.Fatalf("map %d: (%d, %d) is not %v", seed, x, y, want)
					}
				}
			}
			var cold grid.Terrain
			var flow, want grid.Flow
			goal := grid.Cell(dice.N(uint32(s.Cells())))
			flow.Run(g, goal, 1<<31)
			want.Run(cold.Ground(s, walls), goal, 1<<31)
			for at := range grid.Cell(s.Cells()) {
				got, _ := flow.Known(at)
				if want, _ := want.Known(at); got != want {
					t.Fatalf("map %d: cell %d leads to %d, want %d", seed, at, got, want)
				}
			}
			c := dice.N(uint32(s.Cells()))
			n.open[c] = !n.open[c]
			x, y := s.XY(grid.Cell(c))
			walls.Put(s, x, y, !n.open[c])
		}
	})
}

// Missing words are blocked, and unused bits do not matter.
func TestShortBits(t *testing.T) {
	s := grid.Shape{Columns: 70, Rows: 3}
	var terrain grid.Terrain
	g := terrain.Ground(s, grid.Bits{0, 0})
	if !g.Free(fixed.Vec2{X: 69 * fixed.One}) || g.Free(fixed.Vec2{Y: fixed.One}) {
		t.Error("the first row is not open, or the second one is")
	}
	var paths grid.Paths
	if _, ok := paths.Next(terrain.Ground(s, grid.Bits{0, 1 << 6}), 69, 0); !ok {
		t.Error("an unused bit blocks the way")
	}
}

// Nearest finds a cell of the innermost ring that has one.
func TestNearest(t *testing.T) {
	var terrain grid.Terrain
	maps(t, func(t *testing.T, seed uint64, n naive, s grid.Shape, walls grid.Bits) {
		g := terrain.Ground(s, walls)
		for c := range grid.Cell(s.Cells()) {
			x, y := s.XY(c)
			ring := func(o grid.Cell) int32 {
				ox, oy := s.XY(o)
				return max(x-ox, ox-x, y-oy, oy-y)
			}
			least := int32(4)
			for o := range n.open {
				if n.open[o] {
					least = min(least, ring(grid.Cell(o)))
				}
			}
			got, ok := g.Nearest(c, 3)
			if ok != (least < 4) || ok && (ring(got) != least || !n.open[got]) {
				t.Fatalf("map %d: nearest to %d is %d %v, want one of ring %d", seed, c, got, ok, least)
			}
		}
	})
}

// The spiral visits every cell of a square once, ring by ring.
func TestSpiral(t *testing.T) {
	seen := map[[2]int32]bool{}
	for n := range uint32(41 * 41) {
		x, y := grid.Spiral(n)
		ring := max(x, -x, y, -y)
		if seen[[2]int32{x, y}] || ring > 20 || uint32((2*ring+1)*(2*ring+1)) <= n || n > 0 && n < uint32((2*ring-1)*(2*ring-1)) {
			t.Fatalf("%d: %d,%d", n, x, y)
		}
		seen[[2]int32{x, y}] = true
	}
}
