package grid_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A disc has the cells of its definition, also at and beyond the edges, and no others.
func TestDisc(t *testing.T) {
	dice := fixed.NewRand(4)
	for _, s := range []grid.Shape{{Columns: 1, Rows: 1}, {Columns: 40, Rows: 25}, {Columns: 200, Rows: 64}} {
		for range 60 {
			radius := int32(dice.N(50)) - 2
			cx, cy := int32(dice.N(300))-50, int32(dice.N(120))-50
			b := s.NewBits()
			b.Disc(s, fixed.Vec2{X: fixed.Q(cx)<<32 + fixed.Q(dice.Uint32()), Y: fixed.Q(cy)<<32 + fixed.Q(dice.Uint32())}, radius)
			count := 0
			for y := int32(0); y < int32(s.Rows); y++ {
				for x := int32(0); x < int32(s.Columns); x++ {
					want := radius >= 0 && (x-cx)*(x-cx)+(y-cy)*(y-cy) <= radius*radius+radius
					if got := b.Has(s, x, y); got != want {
						t.Fatalf("%v, center %d,%d, radius %d: (%d, %d) is %v", s, cx, cy, radius, x, y, got)
					}
					if want {
						count++
					}
				}
			}
			if b.Count() != count {
				t.Fatalf("%v: Count is %d, want %d", s, b.Count(), count)
			}
		}
	}
}

// No position, radius, cell or set is too extreme.
func TestExtremeBits(t *testing.T) {
	s := grid.Shape{Columns: 100, Rows: 50}
	for _, x := range []fixed.Q{fixed.MinQ, -fixed.One, 0, 99 * fixed.One, 100 * fixed.One, fixed.MaxQ} {
		for _, y := range []fixed.Q{fixed.MinQ, -1, 0, 49 * fixed.One, fixed.MaxQ} {
			for _, radius := range []int32{-1 << 31, -1, 0, 1, 33, 5000, 1<<31 - 1} {
				at := fixed.Vec2{X: x, Y: y}
				for _, b := range []grid.Bits{s.NewBits(), s.NewBits()[:3], nil} {
					b.Disc(s, at, radius)
					inside := x >= 0 && y >= 0 && x < 100*fixed.One && y < 50*fixed.One
					if b.HasAt(s, at) && (!inside || radius < 0) || len(b) > 3 && inside && radius >= 0 && !b.HasAt(s, at) {
						t.Errorf("%v, radius %d, %d words: HasAt is %v", at, radius, len(b), b.HasAt(s, at))
					}
				}
			}
		}
	}
	b := s.NewBits()
	for _, at := range [][2]int32{{-1, 0}, {0, -1}, {100, 0}, {0, 50}, {-1 << 31, 1<<31 - 1}} {
		b.Put(s, at[0], at[1], true)
		b.Row(s, at[1], 3, 2)
		if b.Count() != 0 || b.Has(s, at[0], at[1]) {
			t.Errorf("%v is in the set", at)
		}
	}
}

// A team remembers what it no longer sees, and sets are combined cell by cell.
func TestFog(t *testing.T) {
	s := grid.Shape{Columns: 70, Rows: 20}
	fog, here, there := grid.NewFog(s), fixed.Vec2{X: 5 * fixed.One, Y: 5 * fixed.One}, fixed.Vec2{X: 66 * fixed.One, Y: 9 * fixed.One}
	for _, at := range []fixed.Vec2{here, there} {
		fog.Clear()
		fog.Look(s, at, 3)
		fog.Remember()
	}
	if fog.Sees(s, here) || !fog.Knows(s, here) || !fog.Sees(s, there) || !fog.Knows(s, there) || fog.Knows(s, fixed.Vec2{}) {
		t.Errorf("got %v", fog)
	}
	fog.Explored.Remove(fog.Visible)
	if fog.Knows(s, there) || !fog.Knows(s, here) || fog.Explored.Count() != fog.Visible.Count() {
		t.Errorf("%d explored, %d visible", fog.Explored.Count(), fog.Visible.Count())
	}
}
