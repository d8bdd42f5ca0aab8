package fixed_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

func TestSortKeyed(t *testing.T) {
	r := fixed.NewRand(71)
	var scratch []fixed.Keyed
	for _, n := range []int{0, 1, 2, 3, 100, 1000, 70_000} {
		for _, keep := range []uint32{0, 8, 40, 56, 63} { // few different keys: ids decide
			items := make([]fixed.Keyed, n)
			for i := range items {
				items[i] = fixed.Keyed{Key: fixed.Q(r.Uint64()) >> keep, ID: r.Uint32() >> r.N(32)}
			}
			want := slices.Clone(items)
			slices.SortFunc(want, func(a, b fixed.Keyed) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) })
			if scratch = fixed.SortKeyed(items, scratch); !slices.Equal(items, want) {
				t.Errorf("%d items, keys >> %d: not in order", n, keep)
			}
		}
	}
	items := make([]fixed.Keyed, 1000)
	if n := testing.AllocsPerRun(10, func() { scratch = fixed.SortKeyed(items, scratch) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// near collects what the grid finds.
func near(g *fixed.Grid, at fixed.Vec2, radius fixed.Q) (ids []uint32) {
	for b := g.Around(at, radius); b.Next(); {
		ids = append(ids, b.IDs()...)
	}
	return ids
}

func TestGridFindsAll(t *testing.T) {
	r := fixed.NewRand(72)
	g := fixed.NewGrid(fixed.Vec2{X: -50 * fixed.One, Y: -50 * fixed.One}, 3*fixed.One, 33, 30)
	even := fixed.NewGrid(fixed.Vec2{X: -64 * fixed.One, Y: -64 * fixed.One}, 4*fixed.One, 32, 32)
	for round := range 20 {
		g, even = even, g // one whose size is a power of two, one whose is not
		units := make([]fixed.Vec2, 50*round)
		g.Reset()
		for i := range units {
			units[i] = fixed.Vec2{X: r.Range(-70*fixed.One, 70*fixed.One), Y: r.Range(-70*fixed.One, 70*fixed.One)} // some outside
			if i%50 == 0 {
				units[i] = fixed.Vec2{X: fixed.Pick(&r, edges), Y: fixed.Pick(&r, edges)}
			}
			g.Add(uint32(i), units[i])
		}
		g.Build()
		for range 100 {
			at, radius := fixed.Vec2{X: r.Range(-80*fixed.One, 80*fixed.One), Y: r.Range(-80*fixed.One, 80*fixed.One)}, r.Range(0, 12*fixed.One)
			found := near(g, at, radius)
			for i, u := range units {
				if at.InRange(u, radius) && !slices.Contains(found, uint32(i)) {
					t.Fatalf("unit %d at %v is within %v of %v, and not found", i, u, radius, at)
				}
			}
			slices.Sort(found)
			if len(slices.Compact(slices.Clone(found))) != len(found) {
				t.Fatalf("found twice: %v", found)
			}
		}
		if all := near(g, fixed.Vec2{}, fixed.MaxQ); len(all) != len(units) {
			t.Fatalf("the whole grid holds %d, want %d", len(all), len(units))
		}
	}
}

func TestGridOrder(t *testing.T) {
	g := fixed.NewGrid(fixed.Vec2{}, fixed.One, 2, 2)
	g.Reset()
	for id, at := range []fixed.Vec2{
		{X: 3 * fixed.Half, Y: 3 * fixed.Half}, {}, {X: fixed.Half, Y: fixed.Half}, {X: fixed.One}, {Y: fixed.One}, {X: -fixed.One},
	} {
		g.Add(uint32(id), at)
	}
	g.Build()
	if got, want := near(g, fixed.Vec2{}, 2*fixed.One), []uint32{1, 2, 5, 3, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if got, want := near(g, fixed.Vec2{X: fixed.Half, Y: fixed.Half}, 0), []uint32{1, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if got, want := near(g, fixed.Vec2{X: fixed.One, Y: -9 * fixed.One}, -5*fixed.One), []uint32{3}; !slices.Equal(got, want) {
		t.Errorf("a negative radius read %v, want %v", got, want)
	}
}

func TestGridAllocatesNothing(t *testing.T) {
	g := fixed.NewGrid(fixed.Vec2{}, fixed.One, 64, 64)
	r := fixed.NewRand(73)
	units := make([]fixed.Vec2, 1000)
	for i := range units {
		units[i] = fixed.Vec2{X: r.Range(0, 64*fixed.One), Y: r.Range(0, 64*fixed.One)}
	}
	sum := uint32(0)
	n := testing.AllocsPerRun(10, func() {
		g.Reset()
		for i, at := range units {
			g.Add(uint32(i), at)
		}
		g.Build()
		for b := g.Around(units[5], 3*fixed.One); b.Next(); {
			for _, id := range b.IDs() {
				sum += id
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkGrid(b *testing.B) {
	g := fixed.NewGrid(fixed.Vec2{}, 4*fixed.One, 128, 128)
	r := fixed.NewRand(73)
	units := make([]fixed.Vec2, 10_000)
	for i := range units {
		units[i] = fixed.Vec2{X: r.Range(0, 512*fixed.One), Y: r.Range(0, 512*fixed.One)}
	}
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			g.Reset()
			for i, at := range units {
				g.Add(uint32(i), at)
			}
			g.Build()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(units)), "ns/unit")
	})
	b.Run("Around", func(b *testing.B) {
		sum := uint32(0)
		for i := 0; b.Loop(); i++ {
			for box := g.Around(units[i%len(units)], 4*fixed.One); box.Next(); {
				for _, id := range box.IDs() {
					sum += id
				}
			}
		}
	})
}

// BenchmarkSortKeyed compares the sort with slices.SortFunc of the same elements.
func BenchmarkSortKeyed(b *testing.B) {
	r := fixed.NewRand(74)
	from := make([]fixed.Keyed, 10_000)
	for i := range from {
		from[i] = fixed.Keyed{Key: r.Range(0, 1000*fixed.One), ID: uint32(i)}
	}
	items, scratch := slices.Clone(from), slices.Clone(from)
	b.Run("radix", func(b *testing.B) {
		for b.Loop() {
			copy(items, from)
			scratch = fixed.SortKeyed(items, scratch)
		}
	})
	b.Run("slices", func(b *testing.B) {
		for b.Loop() {
			copy(items, from)
			slices.SortFunc(items, func(a, b fixed.Keyed) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) })
		}
	})
}
