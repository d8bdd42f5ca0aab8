package bodies_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
)

// around returns what Within returns, by a loop over all.
func around(at []fixed.Vec2, place fixed.Vec2, r fixed.Q) (found []uint32) {
	for i, p := range at {
		if place.InRange(p, r) {
			found = append(found, uint32(i))
		}
	}
	return found
}

// scenes are sets of positions.
func scenes() map[string][]fixed.Vec2 {
	rand := fixed.NewStream(1, "scenes")
	any := func() fixed.Vec2 { return fixed.Vec2{X: fixed.Q(rand.Uint64()), Y: fixed.Q(rand.Uint64())} }
	all := map[string][]fixed.Vec2{"none": nil, "one": {any()}}
	for range 300 {
		all["far"] = append(all["far"], any())
		all["one point"] = append(all["one point"], fixed.Vec2{X: fixed.One, Y: -fixed.One})
		p := any()
		all["map"] = append(all["map"], fixed.Vec2{X: p.X >> 27, Y: p.Y >> 27})
		all["one cell"] = append(all["one cell"], fixed.Vec2{X: fixed.MaxQ - p.X&0xffff, Y: fixed.MinQ + p.Y&0xffff})
		corner := [2]fixed.Q{fixed.MinQ, fixed.MaxQ}
		all["corners"] = append(all["corners"], fixed.Vec2{X: corner[p.X&1], Y: corner[p.Y&1]})
	}
	return all
}

// An Index finds what a loop over all finds, whatever it was asked before.
func TestWithin(t *testing.T) {
	var index bodies.Index
	rand := fixed.NewStream(2, "within")
	found := 0
	all := scenes()
	for _, name := range []string{"none", "one", "far", "one point", "map", "one cell", "corners", "map"} {
		at := all[name]
		for _, reach := range []fixed.Q{fixed.MinQ, 0, fixed.One / 2, 3 * fixed.One, fixed.MaxQ} {
			near := index.Near(at, reach)
			for _, r := range []fixed.Q{-1, 0, 1, fixed.One, 7 * fixed.One, fixed.MaxQ / 2, fixed.MaxQ} {
				place := fixed.Vec2{X: rand.Q() - fixed.Half, Y: rand.Q() - fixed.Half}
				if len(at) > 0 {
					place = at[rand.N(uint32(len(at)))]
				}
				want := around(at, place, r)
				found += len(want)
				if got := near.Within(place, r, nil); !slices.Equal(got, want) {
					t.Errorf("%s: within %v of %v with reach %v: %d, want %d", name, r, place, reach, len(got), len(want))
				}
			}
		}
	}
	if found < 5000 {
		t.Errorf("only %d found", found)
	}
}

// A position that changes behind the back of an Index is found at its new place. What a game keeps is not: the control.
func TestIndexIsKeyedByContent(t *testing.T) {
	at := slices.Clone(scenes()["map"])
	var index bodies.Index
	old := new(bodies.Index).Near(at, fixed.One)
	index.Near(at, fixed.One)
	at[7] = fixed.Vec2{X: 900 * fixed.One}
	if got := index.Near(at, fixed.One).Within(at[7], 0, nil); !slices.Equal(got, []uint32{7}) {
		t.Errorf("found %v", got)
	}
	if got := old.Within(at[7], 0, nil); len(got) != 0 {
		t.Errorf("a kept Near found %v", got)
	}
}

// positions reads positions, each with a shift for near and far ones.
func positions(data []byte) (at []fixed.Vec2) {
	for ; len(data) >= 17; data = data[17:] {
		x, y := binary.LittleEndian.Uint64(data[1:]), binary.LittleEndian.Uint64(data[9:])
		at = append(at, fixed.Vec2{X: fixed.Q(x) >> (data[0] & 63), Y: fixed.Q(y) >> (data[0] & 63)})
	}
	return at
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"), int64(1<<32), int64(1<<30), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, r, reach int64, swap uint8) {
		at := positions(data)
		if len(at) == 0 {
			return
		}
		var index bodies.Index
		for k := range 3 {
			place := at[int(swap)%len(at)]
			got := index.Near(at, fixed.Q(reach)).Within(place, fixed.Q(r), nil)
			if want := around(at, place, fixed.Q(r)); !slices.Equal(got, want) {
				t.Fatalf("round %d: %v, want %v", k, got, want)
			}
			at[k%len(at)], at[int(swap)%len(at)] = at[int(swap)%len(at)], at[k%len(at)]
		}
	})
}
