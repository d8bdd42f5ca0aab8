package platforms_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
)

// worldOf returns the state of a new match, for changes.
func worldOf(t *testing.T, players uint8) (*lockstep.Simulation, *platforms.World) {
	sim := newSimulation(t, players)
	return sim, lockstep.World[platforms.World](sim)
}

// Where a unit is after some ticks, from where it begins.
func TestPhysics(t *testing.T) {
	for _, row := range []struct {
		name  string
		from  platforms.Unit
		ticks int
		want  platforms.Unit
	}{
		{"falls on the floor and stands", platforms.Unit{X: 1000, Y: 4010}, 3, platforms.Unit{X: 1000, Y: 4000}},
		{"walks to the right", platforms.Unit{X: 1000, Y: 4000, MoveX: 1}, 5, platforms.Unit{X: 1500, Y: 4000, MoveX: 1}},
		{"walks beyond the edge and falls", platforms.Unit{X: 7950, Y: 4000, MoveX: 1}, 2, platforms.Unit{X: 8150, Y: 3946, MoveX: 1, VY: -36}},
		{"jumps", platforms.Unit{X: 1000, Y: 4000, MoveY: 1}, 1, platforms.Unit{X: 1000, Y: 4180, VY: 162}},
		{"does not jump in the air", platforms.Unit{X: 1000, Y: 4400, MoveY: 1}, 1, platforms.Unit{X: 1000, Y: 4382, VY: -18}},
		{"hits the platform above", platforms.Unit{X: 4000, Y: 4300, VY: 180}, 1, platforms.Unit{X: 4000, Y: 4400, VY: 162}},
		{"stops below the platform", platforms.Unit{X: 4000, Y: 4400, VY: 162}, 1, platforms.Unit{X: 4000, Y: 4400}},
		{"is stopped by the side of a platform", platforms.Unit{X: 3500, Y: 4550, MoveX: 1}, 1, platforms.Unit{X: 3550, Y: 4532, MoveX: 1, VY: -18}},
		{"is teleported", platforms.Unit{X: 2800, Y: 4000, MoveX: 1}, 1, platforms.Unit{X: 0, Y: 0, MoveX: 1, Inside: []uint32{4}}},
		{"comes back from below", platforms.Unit{X: 0, Y: -4880, VY: -100}, 1, platforms.Unit{X: 5000, Y: 5000, VY: -100, Inside: []uint32{5}}},
		{"is not moved again before it has left", platforms.Unit{X: 3000, Y: 4000, Inside: []uint32{4}}, 1, platforms.Unit{X: 3000, Y: 4000, Inside: []uint32{4}}},
		{"leaves a trigger", platforms.Unit{X: 1000, Y: 4000, Inside: []uint32{4}}, 1, platforms.Unit{X: 1000, Y: 4000}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sim, w := worldOf(t, 1)
			w.Units[0] = row.from
			for range row.ticks {
				advance(t, sim, 0)
			}
			got := w.Units[0]
			if !slices.Equal(got.Inside, row.want.Inside) {
				t.Errorf("is inside of %v, want %v", got.Inside, row.want.Inside)
			}
			got.Inside, row.want.Inside = nil, nil
			if got.X != row.want.X || got.Y != row.want.Y || got.VY != row.want.VY || got.MoveX != row.want.MoveX || got.MoveY != row.want.MoveY {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

// Units are obstacles where they were at the start of the tick: one stands on another, and does not walk through it.
func TestUnitsAreObstacles(t *testing.T) {
	sim, w := worldOf(t, 3)
	w.Units[0] = platforms.Unit{X: 1000, Y: 4000, MoveX: 1}
	w.Units[1] = platforms.Unit{X: 1150, Y: 4000, MoveX: 1}
	w.Units[2] = platforms.Unit{X: 1150, Y: 4200}
	advance(t, sim, 0)
	if a, b, top := w.Units[0], w.Units[1], w.Units[2]; a.X != 1050 || b.X != 1250 || top.Y != 4200 || top.VY != 0 {
		t.Errorf("got %+v, %+v and %+v, want the first held back by where the second was, and the third standing", a, b, top)
	}
}

// Commands of a tick run by number, whatever the order of their arrival, and act on the player's unit only.
func TestOrders(t *testing.T) {
	sim, w := worldOf(t, 2)
	mine, other := uint64(w.UnitID(0)), uint64(w.UnitID(1))
	var seen []platforms.Order
	sim.Observe(func(_ lockstep.Tick, e any) {
		for _, o := range e.(platforms.Ticked).Orders {
			o.Targets = slices.Clone(o.Targets)
			seen = append(seen, o)
		}
	})
	advance(t, sim, 0,
		&platforms.Move{Number: 9, Targets: []uint64{mine, mine}, X: 1},
		&platforms.Move{Number: 7, Targets: []uint64{mine, other}, X: -1},
		&platforms.Move{Number: 7, Targets: []uint64{3, other}, X: 1},
		&platforms.Jump{Number: 7, Targets: []uint64{other}},
	)
	if w.Units[0].MoveX != 1 || w.Units[1].MoveX != 0 {
		t.Errorf("got directions %d and %d, want that of the last number, and none for the other unit", w.Units[0].MoveX, w.Units[1].MoveX)
	}
	if len(seen) != 4 || seen[0].Kind != platforms.KindJump || seen[1].Targets[0] != 3 || seen[2].X != -1 || seen[3].Number != 9 {
		t.Errorf("observed %+v", seen)
	}
}

// What no player has a reason to give is refused, and Step takes it all the same.
func TestRefuse(t *testing.T) {
	for _, row := range []struct {
		name  string
		value any
		want  error
	}{
		{"a move", &platforms.Move{Targets: []uint64{8, 8}, X: 1}, nil},
		{"a move of others", &platforms.Move{Targets: []uint64{1, 1 << 60}, X: 1}, nil},
		{"a jump of another unit", &platforms.Jump{Targets: []uint64{9}}, nil},
		{"a jump of a platform", &platforms.Jump{Targets: []uint64{3, 8}}, platforms.ErrTargets},
		{"a jump of nothing there is", &platforms.Jump{Targets: []uint64{10}}, platforms.ErrTargets},
		{"no targets", &platforms.Jump{}, platforms.ErrTargets},
		{"too many targets", &platforms.Move{Targets: make([]uint64, platforms.MaxTargets+1)}, platforms.ErrTargets},
		{"unordered targets", &platforms.Move{Targets: []uint64{9, 8}}, platforms.ErrTargets},
		{"a long step", &platforms.Move{Targets: []uint64{8}, X: 2}, platforms.ErrDirection},
	} {
		t.Run(row.name, func(t *testing.T) {
			sim := newSimulation(t, 2)
			kind, payload, err := game.NewPayloads().Encode(row.value)
			if err != nil {
				t.Fatal(err)
			}
			got := sim.Validate(&lockstep.Command{Tick: 1, Sequence: 1, Kind: kind, Payload: payload, Value: row.value})
			if !errors.Is(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			advance(t, sim, 0, row.value)
		})
	}
}

// A configuration out of range is refused with the field's name.
func TestConfig(t *testing.T) {
	for name, change := range map[string]func(*platforms.Config){
		"grid columns is 0, want 1 to 1000":    func(c *platforms.Config) { c.GridColumns = 0 },
		"fall speed is -1, want 1 to 1000000":  func(c *platforms.Config) { c.FallSpeed = -1 },
		"unit width is 0, want 1 to 1000000":   func(c *platforms.Config) { c.UnitWidth = 0 },
		"jump gravity is 0, want 1 to 1000000": func(c *platforms.Config) { c.JumpGravity = 0 },
	} {
		c := usual
		change(&c)
		var w platforms.World
		err := platforms.Rules().New(&w, &lockstep.Settings{Players: 1}, &c)
		if !errors.Is(err, platforms.ErrConfig) || err.Error() != "platforms: bad config: "+name {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}
