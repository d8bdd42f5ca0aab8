package bodies_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A body comes nearer to its goal in each tick, by at most its speed, and ends there.
func TestArrive(t *testing.T) {
	rand := fixed.NewStream(9, "arrive")
	for range 200 {
		here := fixed.Vec2{X: rand.Range(-9*fixed.One, 9*fixed.One), Y: rand.Range(-9*fixed.One, 9*fixed.One)}
		goal, speed, slow := at(3, 1), rand.Range(fixed.One/100, fixed.One), rand.Range(0, 4*fixed.One)
		distance := fixed.Hypot(goal.X-here.X, goal.Y-here.Y)
		limit := int64(distance/speed) + 8*int64(slow/speed) + 9
		for tick := int64(0); here != goal; tick++ {
			by := bodies.Arrive(here, goal, speed, slow)
			here = here.Add(by)
			left := fixed.Hypot(goal.X-here.X, goal.Y-here.Y)
			if tick > limit || left >= distance || fixed.Hypot(by.X, by.Y) > speed+1 {
				t.Fatalf("tick %d of %d: %v from the goal, was %v, moved %v with %v", tick, limit, left, distance, by, speed)
			}
			distance = left
		}
		if by := bodies.Arrive(here, goal, speed, slow); by != (fixed.Vec2{}) {
			t.Fatalf("it leaves its goal by %v", by)
		}
	}
}

// Nothing moves without speed.
func TestArriveWithoutSpeed(t *testing.T) {
	for _, slow := range []fixed.Q{-1, 0, fixed.One, fixed.MaxQ} {
		if by := bodies.Arrive(at(0, 0), fixed.Vec2{X: fixed.Half}, 0, slow); by != (fixed.Vec2{}) {
			t.Errorf("slow %v: it moves by %v", slow, by)
		}
	}
}

// Each place is given once, in every number of bodies; each rank keeps its order, and the ways are shorter than without.
func TestAssign(t *testing.T) {
	rand := fixed.NewStream(10, "assign")
	var with, without fixed.Q
	for n := range 40 {
		f := bodies.Formation{At: at(3, 4), Facing: fixed.Turn(rand.Uint32()), Files: uint16(rand.N(9)), Spacing: fixed.One}
		spots := make([]fixed.Vec2, n)
		for i := range spots {
			spots[i] = fixed.Vec2{X: rand.Range(-20*fixed.One, 20*fixed.One), Y: rand.Range(-20*fixed.One, 20*fixed.One)}
		}
		places := f.Assign(spots, []int32{-7})
		if places[0] != -7 || len(places) != n+1 {
			t.Fatalf("%v", places)
		}
		places = places[1:]
		sorted := slices.Sorted(slices.Values(places))
		for i, place := range sorted {
			if int(place) != i {
				t.Fatalf("%d bodies get %v", n, sorted)
			}
		}
		right := fixed.Polar(f.Facing-fixed.QuarterTurn, fixed.One)
		for i := range spots {
			for j := range spots {
				files := max(int32(f.Files), 1)
				if places[i]/files == places[j]/files && places[i] < places[j] && spots[i].Sub(spots[j]).Dot(right) > 1<<8 {
					t.Fatalf("bodies %d and %d cross", i, j)
				}
			}
			to, by := f.Place(int(places[i]), n), f.Place(i, n)
			with += fixed.Hypot(to.X-spots[i].X, to.Y-spots[i].Y)
			without += fixed.Hypot(by.X-spots[i].X, by.Y-spots[i].Y)
		}
	}
	if with > without*19/20 {
		t.Errorf("the ways have a length of %v, in the order of the bodies %v", with, without)
	}
}

// The places are Spacing apart, and the ranks are centred.
func TestPlace(t *testing.T) {
	f := bodies.Formation{At: at(10, 10), Files: 3, Spacing: 2 * fixed.One}
	want := []fixed.Vec2{at(10, 12), at(10, 10), at(10, 8), at(8, 11), at(8, 9)}
	for k := range want {
		if got := f.Place(k, len(want)); got != want[k] {
			t.Errorf("place %d is %v, want %v", k, got, want[k])
		}
	}
}

// A box that slides at any speed never touches a closed cell, and a short way is exact where all is open.
func TestSlide(t *testing.T) {
	rand := fixed.NewStream(11, "slide")
	s := grid.Shape{Columns: 20, Rows: 12}
	walls := s.NewBits()
	for range 40 {
		walls.Put(s, int32(rand.N(20)), int32(rand.N(12)), true)
	}
	g := new(grid.Terrain).Ground(s, walls)
	stopped, whole := 0, 0
	for range 4000 {
		b := bodies.Body{
			At:   fixed.Vec2{X: rand.Range(0, 20*fixed.One), Y: rand.Range(0, 12*fixed.One)},
			Half: fixed.Vec2{X: rand.Range(1, fixed.One), Y: rand.Range(1, fixed.One)},
		}
		if closedUnder(g, &b) {
			continue
		}
		way := fixed.Polar(fixed.Turn(rand.Uint32()), fixed.One<<rand.N(12)>>6)
		to := bodies.Slide(g, b.At, b.Half, way)
		if to == b.At.Add(way) {
			whole++
		} else {
			stopped++
		}
		if b.At = to; closedUnder(g, &b) {
			t.Fatalf("%+v is in rock", b)
		}
	}
	if stopped < 200 || whole < 200 {
		t.Errorf("%d were stopped, %d were not", stopped, whole)
	}
	corridor := s.NewBits()
	for y := range int32(12) {
		corridor.Put(s, 10, y, true)
	}
	g = new(grid.Terrain).Ground(s, corridor)
	half := fixed.Vec2{X: fixed.One / 4, Y: fixed.One / 4}
	for _, speed := range []int64{1, 8, 100, 1 << 28} {
		if got := bodies.Slide(g, at(2, 6), half, at(speed, 1)); got.X > 10*fixed.One-half.X || got.Y != 7*fixed.One {
			t.Errorf("with speed %d it gets to %v", speed, got)
		}
	}
}
