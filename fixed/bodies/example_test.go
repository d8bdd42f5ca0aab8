package bodies_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

func ExampleIndex() {
	var index bodies.Index // a derived field of the state
	units := []fixed.Vec2{at(1, 1), at(9, 9), at(2, 1)}
	near := index.Near(units, 2*fixed.One)
	fmt.Println(near.Within(at(0, 0), 3*fixed.One, nil))
	// Output: [0 2]
}

func ExampleNear_Along() {
	var index bodies.Index
	near := index.Near([]fixed.Vec2{at(1, 1), at(9, 9), at(2, 1)}, 2*fixed.One)
	fmt.Println(near.Along(at(0, 0), at(1, 1), fixed.One, nil))
	// Output: [0 2]
}

func ExampleCrowd_Move() {
	var crowd bodies.Crowd // a derived field of the state
	all := []bodies.Body{
		{At: at(0, 0), Radius: fixed.One, Weight: 1, Want: at(1, 0)},
		{At: at(10, 0), Half: at(1, 1)}, // a building: it walks around
	}
	for range 20 {
		crowd.Move(all, nil)
	}
	fmt.Println(all[0].At.X.Round(), all[1].At.X)
	// Output: 16 10
}

func ExampleCrowd_Separate() {
	var crowd bodies.Crowd
	all := []bodies.Body{
		{At: at(0, 0), Radius: fixed.One, Weight: 1},
		{At: at(1, 0), Radius: fixed.One, Weight: 1},
	}
	overlap := crowd.Separate(all, nil, 10)
	fmt.Println(overlap <= bodies.Epsilon, all[0].At.X < 0, all[1].At.X > fixed.One)
	// Output: true true true
}

func ExampleSlide() {
	shape := grid.Shape{Columns: 8, Rows: 8}
	walls := shape.NewBits()
	walls.Row(shape, 4, 0, 7)
	var terrain grid.Terrain
	half := fixed.Vec2{X: fixed.Half, Y: fixed.Half}
	fmt.Println(bodies.Slide(terrain.Ground(shape, walls), at(2, 2), half, at(3, 3)))
	// Output: {5 3.5}
}

func ExampleArrive() {
	here, goal := at(0, 0), at(4, 0)
	for tick := 1; here != goal; tick++ {
		here = here.Add(bodies.Arrive(here, goal, fixed.One, 2*fixed.One))
		fmt.Print(here.X.Mul(fixed.FromInt(100)).Int(), " ")
	}
	// Output: 100 200 300 350 375 387 400
}

func ExampleFormation() {
	f := bodies.Formation{At: at(10, 10), Files: 2, Spacing: 2 * fixed.One}
	units := []fixed.Vec2{at(0, 5), at(3, 5), at(3, 0)}
	for i, place := range f.Assign(units, nil) {
		fmt.Println(i, "goes to", f.Place(int(place), len(units)))
	}
	// Output:
	// 0 goes to {8 10}
	// 1 goes to {10 11}
	// 2 goes to {10 9}
}

func ExampleShot() {
	all := []bodies.Body{
		{At: at(9, 0), Radius: fixed.One},
		{At: at(5, 0), Half: at(1, 1)},
	}
	shot := bodies.Shot{From: at(0, 0), To: at(1000, 0)}
	hit, ok := shot.First(all, nil, nil)
	fmt.Println(ok, hit.Body, hit.At.X.Round(), bodies.Hit{} == hit)
	// Output: true 1 4 false
}
