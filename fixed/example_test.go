package fixed_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
)

func ExampleQ() {
	rate := fixed.MustParse("0.1")
	gold := fixed.Q(0)
	for range 10 {
		gold += rate
	}
	fmt.Println(gold, gold.Round(), gold.Int())
	fmt.Println(fixed.FromInt(2).Sqrt(), fixed.FromRatio(1, 3), fixed.FromInt(7).Mod(fixed.FromInt(3)))
	fmt.Println(fixed.MustParse("2.5").Round(), fixed.MustParse("-2.5").Round(), fixed.MustParse("-2.5").Floor())
	// Output:
	// 1.000000001 1 1
	// 1.4142135624 0.3333333333 1
	// 2 -2 -3
}

func ExampleTurn() {
	heading := fixed.Degrees(fixed.FromInt(350))
	for range 3 {
		heading = heading.Toward(fixed.Degrees(fixed.FromInt(20)), fixed.Degrees(fixed.FromInt(12)))
		fmt.Println(heading, heading.Sin())
	}
	// Output:
	// 0.0055555557 0.0348994976
	// 0.0388888891 0.241921897
	// 0.0555555555 0.342020143
}

func ExampleVec2() {
	at, goal := fixed.Vec2{}, fixed.Vec2{X: fixed.FromInt(30), Y: fixed.FromInt(40)}
	at = at.MoveToward(goal, fixed.FromInt(10))
	fmt.Println(at, at.InRange(goal, fixed.FromInt(40)), at.Heading() == goal.Heading())
	fmt.Println(goal.Len(), goal.Normalize())
	// Output:
	// {6 8} true true
	// 50 {0.6 0.8}
}

func ExampleVec3() {
	arrow, velocity := fixed.Vec3{}, fixed.Vec3{X: fixed.One, Z: fixed.One}
	gravity := fixed.Vec3{Z: -fixed.Half}
	for range 4 {
		velocity = velocity.Add(gravity)
		arrow = arrow.Add(velocity)
	}
	fmt.Println(arrow, arrow.XY())
	// Output:
	// {4 0 -1} {4 0}
}

func ExampleRand() {
	r := fixed.NewRand(1) // a field of the state
	fmt.Println(r.N(6)+1, r.N(6)+1, r.Q(), r.Range(-fixed.One, fixed.One))
	team := []string{"red", "green", "blue"}
	fixed.Shuffle(&r, team)
	fmt.Println(team, fixed.Pick(&r, team))
	// Output:
	// 5 5 0.0058367911 -0.3051973584
	// [blue green red] blue
}

func ExampleDraw() {
	const damage, loot = 1, 2 // purposes
	seed, tick := uint64(42), uint32(1000)
	for unit := range uint32(3) {
		fmt.Println(fixed.DrawN(seed, unit, tick, damage, 0, 20), fixed.DrawQ(seed, unit, tick, loot, 0))
	}
	// Output:
	// 6 0.905906145
	// 4 0.0274200998
	// 16 0.7573783195
}

func ExampleGrid() {
	units := []fixed.Vec2{{X: fixed.FromInt(1)}, {X: fixed.FromInt(50)}, {X: fixed.FromInt(3), Y: fixed.FromInt(2)}}
	g := fixed.NewGrid(fixed.Vec2{}, fixed.FromInt(4), 32, 32)
	for id, at := range units {
		g.Add(uint32(id), at)
	}
	g.Build()
	for box := g.Around(units[0], fixed.FromInt(3)); box.Next(); {
		for _, id := range box.IDs() {
			fmt.Println(id, units[0].InRange(units[id], fixed.FromInt(3)))
		}
	}
	// Output:
	// 0 true
	// 2 true
}

func ExampleKeyed() {
	nearest := []fixed.Keyed{{Key: fixed.FromInt(9), ID: 1}, {Key: fixed.FromInt(2), ID: 7}, {Key: fixed.FromInt(2), ID: 3}}
	var scratch []fixed.Keyed
	scratch = fixed.SortKeyed(nearest, scratch)
	fmt.Println(nearest, len(scratch))
	// Output:
	// [{2 3} {2 7} {9 1}] 3
}

func ExampleOrient2D() {
	a, b := fixed.Vec2{}, fixed.Vec2{X: fixed.MaxQ, Y: fixed.MaxQ}
	fmt.Println(fixed.Orient2D(a, b, fixed.Vec2{X: fixed.MaxQ - 1, Y: fixed.MaxQ}))
	// Output:
	// 1
}

func ExampleParse() {
	x, err := fixed.Parse("-12.75")
	fmt.Println(x, int64(x)>>30, err)
	_, err = fixed.Parse("twelve")
	fmt.Println(err)
	// Output:
	// -12.75 -51 <nil>
	// fixed: not a decimal number: "twelve"
}

func ExampleExp2() {
	fmt.Println(fixed.Exp2(fixed.Half), fixed.Log2(fixed.FromInt(1000)), fixed.Pow(fixed.MustParse("1.5"), fixed.FromInt(3)))
	// Output:
	// 1.4142135624 9.9657842848 3.375
}

func ExampleAtan2() {
	fmt.Println(fixed.Atan2(fixed.One, fixed.One), fixed.Atan2Radians(fixed.One, -fixed.One))
	// Output:
	// 0.125 2.35619449
}

func ExampleBox() {
	g := fixed.NewGrid(fixed.Vec2{}, fixed.One, 8, 8)
	for id := range uint32(8) {
		g.Add(id, fixed.Vec2{X: fixed.FromInt(int64(id)), Y: fixed.FromInt(int64(id) / 4)})
	}
	g.Build()
	for box := g.Around(fixed.Vec2{X: fixed.FromInt(4)}, fixed.FromInt(2)); box.Next(); {
		fmt.Println(box.IDs()) // a row of cells
	}
	// Output:
	// [2 3]
	// [4 5 6]
	// []
}

func ExampleNewStream() {
	type state struct{ Loot, Weather fixed.Rand } // one generator for each purpose
	const seed = 7                                // of the match
	s := state{fixed.NewStream(seed, "loot"), fixed.NewStream(seed, "weather")}
	fmt.Println(s.Loot.N(100), s.Loot.N(100), s.Weather.N(100))
	s = state{fixed.NewStream(seed, "loot"), fixed.NewStream(seed, "weather")}
	fmt.Println(s.Weather.N(100), s.Loot.N(100), s.Loot.N(100)) // the order does not matter
	// Output:
	// 22 48 7
	// 7 22 48
}

// A renderer takes floats; the simulation's numbers stay as they are.
func ExampleQ_Float64() {
	at := fixed.FromRatio(1, 4) + fixed.FromInt(3)
	const pixels = 16 // of a cell
	fmt.Println(at.Float64()*pixels, at.Float32()*pixels, fixed.Pi.Float64())
	// Output:
	// 52 52 3.141592653701082
}
