package grid_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

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
