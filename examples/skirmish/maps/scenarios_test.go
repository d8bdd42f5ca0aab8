package maps_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The scenarios and how many players they take.
func ExampleScenario() {
	for _, s := range maps.Scenarios() {
		c := s.Config(2)
		fmt.Printf("%s for %d: %d units on %d × %d cells\n", s.Name, s.Players, c.Units, c.Size, c.Size)
	}
	// Output:
	// duel for 2: 22 units on 72 × 72 cells
	// crossroads for 4: 22 units on 64 × 64 cells
	// ring for 8: 22 units on 128 × 128 cells
	// battle for 0: 1000 units on 128 × 128 cells
}

// begin returns the world of a scenario at tick 0.
func begin(t *testing.T, s maps.Scenario, players int) *skirmish.World {
	t.Helper()
	game := lockstep.MustGame(skirmish.Rules()).WithAssets(maps.Read)
	config := s.Config(players)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(uint8(players)), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	return lockstep.World[skirmish.World](sim)
}

// turned returns a place of a map after a half turn.
func turned(at fixed.Vec2, size uint16) fixed.Vec2 {
	side := fixed.FromInt(int64(size))
	return fixed.Vec2{X: side - at.X, Y: side - at.Y}
}

// The maps look the same after a half turn, and all players have the same ways: to each other, to the nearest crystals, and to
// the middle.
func TestMapsAreFair(t *testing.T) {
	for _, s := range maps.Scenarios() {
		if s.Players == 0 {
			continue
		}
		w := begin(t, s, s.Players)
		size := int(w.Map.Size)
		for y := range size {
			for x := range size {
				if w.Map.Rock(x, y) != w.Map.Rock(size-1-x, size-1-y) {
					t.Fatalf("%s: cell %d %d differs from its opposite", s.Name, x, y)
				}
			}
		}
		for _, c := range w.Crystals {
			if !slices.ContainsFunc(w.Crystals, func(o skirmish.Crystal) bool { return o.Pos == turned(c.Pos, w.Map.Size) && o.Full == c.Full }) {
				t.Errorf("%s: the crystal at %v has no opposite", s.Name, c.Pos)
			}
		}
		for _, z := range w.Zones {
			if !slices.ContainsFunc(w.Zones, func(o skirmish.Zone) bool {
				return o.Pos == turned(z.Pos, w.Map.Size) && o.Kind == z.Kind && o.Radius == z.Radius
			}) {
				t.Errorf("%s: the %v at %v has no opposite", s.Name, z.Kind, z.Pos)
			}
		}
		var bases []fixed.Vec2
		for i := range w.Units {
			if w.Units[i].Kind == skirmish.Base {
				bases = append(bases, w.Units[i].Pos)
			}
		}
		var first []int
		for p, base := range bases {
			if got := ways(w, base, bases); p == 0 {
				first = got
			} else if !slices.Equal(got, first) {
				t.Errorf("%s: player %d has ways %v, player 0 has %v", s.Name, p, got, first)
			}
		}
	}
}

// ways returns the numbers of steps from a base to the crystals and to the other bases, in order.
func ways(w *skirmish.World, base fixed.Vec2, bases []fixed.Vec2) (steps []int) {
	size := int(w.Map.Size)
	distance := make([]int, size*size)
	// The cells of a place on a corner of cells are the four around it, so that a turned map gives turned cells.
	var queue []int
	around := func(at fixed.Vec2) (cells []int) {
		for _, d := range [][2]fixed.Q{{-1, -1}, {0, -1}, {-1, 0}, {0, 0}} {
			cells = append(cells, int((at.Y+d[1]).Int())*size+int((at.X+d[0]).Int()))
		}
		return cells
	}
	for _, c := range around(base) {
		if distance[c] == 0 {
			distance[c] = 1
			queue = append(queue, c)
		}
	}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, n := range []int{c - 1, c + 1, c - size, c + size} {
			if distance[n] == 0 && !w.Map.Rock(n%size, n/size) {
				distance[n] = distance[c] + 1
				queue = append(queue, n)
			}
		}
	}
	add := func(at fixed.Vec2) {
		least := 1 << 30
		for _, c := range around(at) {
			if distance[c] > 0 {
				least = min(least, distance[c])
			}
		}
		steps = append(steps, least)
	}
	for i := range w.Crystals {
		add(w.Crystals[i].Pos)
	}
	for _, b := range bases {
		add(b)
	}
	slices.Sort(steps)
	return steps
}
