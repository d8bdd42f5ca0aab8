package grid_test

import (
	"cmp"
	"math/big"
	"slices"
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

// Sees agrees with rational arithmetic on random lines, and on lines through corners and along edges, both ways.
func TestSees(t *testing.T) {
	seen, hidden := 0, 0
	for seed := range uint64(12) {
		n, s, walls := random(seed, 14, 11, uint32(5+seed*2))
		var terrain grid.Terrain
		g, dice := terrain.Ground(s, walls), fixed.NewRand(seed)
		place := func(most uint32) fixed.Q {
			switch dice.N(3) {
			case 0:
				return fixed.Q(dice.N(most)) << 32 // on an edge
			case 1:
				return fixed.Q(dice.N(most*2)) << 31
			}
			return dice.Range(0, fixed.Q(most)<<32)
		}
		for range 300 {
			a, b := fixed.Vec2{X: place(14), Y: place(11)}, fixed.Vec2{X: place(14), Y: place(11)}
			want := n.sees(a, b)
			if got, back := g.Sees(a, b), g.Sees(b, a); got != want || back != want {
				t.Fatalf("map %d: from %v to %v: %v, back %v, want %v", seed, a, b, got, back, want)
			}
			if want {
				seen++
			} else {
				hidden++
			}
		}
	}
	if seen < 500 || hidden < 500 {
		t.Errorf("%d seen, %d hidden", seen, hidden)
	}
}

// sees visits the cells of all points at which the line crosses an edge, and of the points between.
func (n *naive) sees(a, b fixed.Vec2) bool {
	ax, ay, dx, dy := rat(a.X), rat(a.Y), rat(b.X-a.X), rat(b.Y-a.Y)
	at := func(t *big.Rat) (x, y *big.Rat) {
		x, y = new(big.Rat).Mul(dx, t), new(big.Rat).Mul(dy, t)
		return x.Add(x, ax), y.Add(y, ay)
	}
	times := []*big.Rat{new(big.Rat), big.NewRat(1, 1)}
	for k := range int64(16) {
		for _, axis := range [][2]*big.Rat{{ax, dx}, {ay, dy}} {
			if axis[1].Sign() != 0 {
				t := new(big.Rat).Sub(big.NewRat(k, 1), axis[0])
				if t.Quo(t, axis[1]); t.Sign() > 0 && t.Cmp(times[1]) < 0 {
					times = append(times, t)
				}
			}
		}
	}
	slices.SortFunc(times, func(a, b *big.Rat) int { return a.Cmp(b) })
	for i, t := range times {
		x, y := at(t)
		if !n.isOpen(floor(x), floor(y)) {
			return false
		}
		// A corner inside of the line needs four cells, and so does one at its upper right end.
		inside := t.Sign() > 0 && i < len(times)-1
		end := cmp.Compare(dx.Sign()*dy.Sign(), 0) > 0 && (dx.Sign() > 0) == (t.Sign() > 0)
		if x.IsInt() && y.IsInt() && dx.Sign() != 0 && dy.Sign() != 0 && (inside || end) {
			for _, o := range [][2]int{{-1, -1}, {-1, 0}, {0, -1}} {
				if !n.isOpen(floor(x)+o[0], floor(y)+o[1]) {
					return false
				}
			}
		}
		if i > 0 {
			x, y = at(new(big.Rat).Mul(new(big.Rat).Add(t, times[i-1]), big.NewRat(1, 2)))
			if !n.isOpen(floor(x), floor(y)) {
				return false
			}
		}
	}
	return true
}

func rat(x fixed.Q) *big.Rat { return big.NewRat(int64(x), 1<<32) }

func floor(x *big.Rat) int {
	return int(new(big.Int).Div(x.Num(), x.Denom()).Int64()) // rounds down, because the denominator is positive
}
