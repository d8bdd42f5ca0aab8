package grid_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// drawn returns a map whose blocked cells are drawn as #, the top row first.
func drawn(rows ...string) (grid.Shape, grid.Bits) {
	s := grid.Shape{Columns: uint16(len(rows[0])), Rows: uint16(len(rows))}
	walls := s.NewBits()
	for i, row := range rows {
		for x, r := range row {
			walls.Put(s, int32(x), int32(len(rows)-1-i), r == '#')
		}
	}
	return s, walls
}

// Units with one goal share a flow field. A new wall needs nothing but the next call of Ground.
func ExamplePaths() {
	shape, walls := drawn(
		".....",
		".###.",
		".....",
	)
	var terrain grid.Terrain // a derived field
	var paths grid.Paths     // another
	start, goal := shape.Cell(0, 0), shape.Cell(4, 2)
	for range 2 {
		ground := terrain.Ground(shape, walls) // in each tick
		for at, ok := start, true; ok; at, ok = paths.Next(ground, goal, at) {
			x, y := shape.XY(at)
			fmt.Printf("(%d,%d)", x, y)
		}
		fmt.Println()
		walls.Put(shape, 4, 1, true)
	}
	// Output:
	// (0,0)(1,0)(2,0)(3,0)(4,0)(4,1)(4,2)
	// (0,0)(0,1)(0,2)(1,2)(2,2)(3,2)(4,2)
}

func ExampleSearch() {
	shape, walls := drawn(
		"...#...",
		".#.#.#.",
		".#...#.",
	)
	var terrain grid.Terrain
	var search grid.Search
	way, ok := search.Find(terrain.Ground(shape, walls), shape.Cell(0, 0), shape.Cell(6, 0), nil)
	fmt.Println(len(way), ok)
	_, ok = search.Find(terrain.Ground(shape, walls), shape.Cell(0, 0), shape.Cell(1, 0), nil)
	fmt.Println(ok)
	// Output:
	// 14 true
	// false
}

// Fields in the state and flows beside them spread the work on long ways over ticks: 10 cells in each.
func ExampleFields() {
	shape, walls := drawn("........................")
	var state struct{ Fields [4]grid.Field }
	var terrain grid.Terrain
	var flows grid.Flows
	at, goal := shape.Cell(23, 0), shape.Cell(0, 0)
	for tick := uint32(1); tick <= 5; tick++ {
		ground, fields := terrain.Ground(shape, walls), grid.Fields(state.Fields[:])
		flows.Grow(ground, fields, tick, 10)
		slot := fields.Claim(goal, tick, 40)
		next, ok := flows.Follow(ground, fields, slot, at, tick)
		fmt.Println(tick, next, ok, state.Fields[slot].Steps)
		at = next
	}
	// Output:
	// 1 23 false 0
	// 2 23 false 10
	// 3 23 false 20
	// 4 22 true 24
	// 5 21 true 24
}

func ExampleGround_Sees() {
	shape, walls := drawn(
		"...",
		".#.",
		"...",
	)
	var terrain grid.Terrain
	ground := terrain.Ground(shape, walls)
	archer := fixed.Vec2{X: fixed.Half, Y: fixed.Half}
	for _, target := range []fixed.Vec2{{X: archer.X + 2*fixed.One, Y: archer.Y}, {X: archer.X + 2*fixed.One, Y: archer.Y + 2*fixed.One}} {
		fmt.Println(ground.Sees(archer, target), ground.Sees(target, archer))
	}
	// Output:
	// true true
	// false false
}

func ExampleFog() {
	shape := grid.Shape{Columns: 40, Rows: 40}
	fog := grid.NewFog(shape)
	scout := fixed.Vec2{X: 5 * fixed.One, Y: 5 * fixed.One}
	for range 2 {
		fog.Clear()
		fog.Look(shape, scout, 3)
		fog.Remember()
		fmt.Println(fog.Sees(shape, scout), fog.Visible.Count(), fog.Explored.Count())
		scout.X += 20 * fixed.One
	}
	fmt.Println(fog.Sees(shape, fixed.Vec2{X: 5 * fixed.One, Y: 5 * fixed.One}))
	// Output:
	// true 37 37
	// true 37 74
	// false
}

func ExampleBits() {
	shape := grid.Shape{Columns: 100, Rows: 50}
	burning := shape.NewBits() // a field of the state
	burning.Row(shape, 7, 10, 19)
	burning.Put(shape, 12, 7, false)
	fmt.Println(burning.Count(), burning.Has(shape, 11, 7), burning.Has(shape, 12, 7), burning.Has(shape, -1, 7))
	// Output:
	// 9 true false false
}

// A single field, which is computed as far as the cell that asks.
func ExampleFlow() {
	shape, walls := drawn("....#..")
	var terrain grid.Terrain
	var flow grid.Flow
	ground := terrain.Ground(shape, walls)
	next, ok := flow.Next(ground, 0, 3)
	cost, _ := flow.Cost(ground, 0, 3)
	fmt.Println(next, ok, cost)
	_, ok = flow.Next(ground, 0, 5)
	fmt.Println(ok)
	// Output:
	// 2 true 6
	// false
}
