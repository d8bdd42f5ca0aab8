package grid_test

import (
	"cmp"
	"math/big"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

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
