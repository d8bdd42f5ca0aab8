package grid_test

import (
	"hash/fnv"
	"slices"
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

// A goal has one field. A slot is reused for another goal only after enough unused ticks, the oldest first.
func TestClaim(t *testing.T) {
	fields := make(grid.Fields, 8)
	for goal := range grid.Cell(8) {
		if got := fields.Claim(goal, 1000, 40); got != int(goal) {
			t.Fatalf("goal %d has slot %d", goal, got)
		}
	}
	claim := func(goal grid.Cell, tick uint32, want int) {
		t.Helper()
		if got := fields.Claim(goal, tick, 40); got != want {
			t.Errorf("tick %d: goal %d has slot %d, want %d", tick, goal, got, want)
		}
		if want >= 0 && (!fields.Leads(want, goal) || fields.Leads(want, goal+1) || fields.Leads(want+100, goal)) {
			t.Errorf("slot %d does not lead to %d alone", want, goal)
		}
	}
	claim(5, 1000, 5)
	fields[0].Used = 1030
	claim(500, 1040, -1)
	claim(500, 1041, 1) // not 0, which was in use later
	claim(500, 1041, 1)
	fields[6] = grid.Field{}
	claim(2000, 1041, 6) // free
}

// Units that follow shared fields get the same answers from the caches of a match as from new ones in every tick, reach
// the goal, and no tick computes more than the budget.
func TestFields(t *testing.T) {
	_, s, walls := random(3, 60, 60, 20)
	var terrain grid.Terrain
	var flows grid.Flows
	fields, dice := make(grid.Fields, 4), fixed.NewRand(1)
	at, goal := make([]grid.Cell, 30), make([]grid.Cell, 30)
	arrived, waited := 0, 0
	for tick := uint32(1); tick < 600; tick++ {
		g := terrain.Ground(s, walls)
		var coldTerrain grid.Terrain
		var cold grid.Flows
		coldGround := coldTerrain.Ground(s, walls)
		before := steps(fields)
		flows.Grow(g, fields, tick, 300)
		if got := steps(fields) - before; got > 300 {
			t.Fatalf("tick %d: %d steps", tick, got)
		}
		for i := range at {
			if at[i] == goal[i] {
				arrived++
				at[i], _ = g.Nearest(grid.Cell(dice.N(3600)), 60)
				goal[i], _ = g.Nearest(grid.Cell(dice.N(6)*599), 60)
			}
			slot := fields.Claim(goal[i], tick, 5)
			if slot < 0 {
				continue
			}
			next, ok := flows.Follow(g, fields, slot, at[i], tick)
			if want, wantOK := cold.Follow(coldGround, fields, slot, at[i], tick); next != want || ok != wantOK {
				t.Fatalf("tick %d: unit %d goes to %d %v, a restored copy to %d %v", tick, i, next, ok, want, wantOK)
			}
			if !ok {
				waited++
			}
			at[i] = next
		}
	}
	if arrived < 100 || waited < 100 {
		t.Errorf("%d arrived, %d waited", arrived, waited)
	}
}

func steps(fields grid.Fields) (sum uint32) {
	for _, f := range fields {
		sum += f.Steps
	}
	return sum
}

// FuzzCaches plays with the cells and the size of a map: caches that have seen many maps answer like new ones.
func FuzzCaches(f *testing.F) {
	f.Add([]byte("walls rise and fall; units ask for the way"))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 255, 254, 253, 7, 7, 7, 7, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		s := grid.Shape{Columns: 12, Rows: 9}
		walls, dice := s.NewBits(), fixed.NewRand(uint64(len(script)))
		var terrain grid.Terrain
		var paths grid.Paths
		var search, coldSearch grid.Search
		for _, b := range script {
			switch x, y := int32(dice.N(13)), int32(dice.N(10)); b % 8 {
			case 0:
				s.Columns = uint16(b / 8)
				walls = walls[:min(len(walls), s.Words())]
			case 1:
				terrain = grid.Terrain{} // as a game might in Derive
			case 2:
				walls = append(grid.Bits{}, walls...)
			default:
				walls.Put(s, x, y, b%3 != 0)
			}
			var coldTerrain grid.Terrain
			var coldPaths grid.Paths
			g, cold := terrain.Ground(s, walls), coldTerrain.Ground(s, walls)
			goal, from := grid.Cell(dice.N(4)*7), grid.Cell(dice.N(120))
			next, ok := paths.Next(g, goal, from)
			if want, wantOK := coldPaths.Next(cold, goal, from); next != want || ok != wantOK {
				t.Fatalf("%v: %d to %d leads to %d %v, want %d %v", s, from, goal, next, ok, want, wantOK)
			}
			way, ok := search.Find(g, from, goal, nil)
			want, wantOK := coldSearch.Find(cold, from, goal, nil)
			if len(way) != len(want) || ok != wantOK {
				t.Fatalf("%v: %d to %d takes %v %v, want %v %v", s, from, goal, way, ok, want, wantOK)
			}
			coldSearch = grid.Search{}
		}
	})
}

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
