package bodies_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// overlap returns the overlap of two bodies that are near each other in cells. It is negative if they are apart.
func overlap(a, b *bodies.Body) float64 {
	x := math.Abs(cells(a.At.X-b.At.X)) - cells(a.Half.X) - cells(b.Half.X)
	y := math.Abs(cells(a.At.Y-b.At.Y)) - cells(a.Half.Y) - cells(b.Half.Y)
	d := max(x, y)
	if d > 0 {
		d = math.Hypot(max(x, 0), max(y, 0))
	}
	return cells(a.Radius) + cells(b.Radius) - d
}

func cells(x fixed.Q) float64 { return float64(x) / (1 << 32) }

// worst returns the greatest overlap of all pairs.
func worst(all []bodies.Body) (most float64) {
	most = math.Inf(-1)
	for i := range all {
		for j := range i {
			if all[i].Weight|all[j].Weight != 0 {
				most = max(most, overlap(&all[i], &all[j]))
			}
		}
	}
	return most
}

const epsilon = float64(bodies.Epsilon) / (1 << 32)

func at(x, y int64) fixed.Vec2 { return fixed.Vec2{X: fixed.FromInt(x), Y: fixed.FromInt(y)} }

// group returns n circles in a formation.
func group(n int, f bodies.Formation) (all []bodies.Body) {
	for i := range n {
		all = append(all, bodies.Body{At: f.Place(i, n), Radius: fixed.One * 3 / 8, Weight: 1})
	}
	return all
}

// Two groups that go to each other's place arrive, and no two bodies ever overlap.
func TestGroupsCross(t *testing.T) {
	const each, limit = 60, 750
	forms := [2]bodies.Formation{
		{At: at(20, 20), Files: 10, Spacing: fixed.One},
		{At: at(44, 20), Facing: fixed.HalfTurn, Files: 10, Spacing: fixed.One},
	}
	all := append(group(each, forms[0]), group(each, forms[1])...)
	forms[0].At, forms[1].At = forms[1].At, forms[0].At
	var crowd bodies.Crowd
	var places []int32
	for tick, arrived := 0, 0; arrived < len(all); tick++ {
		if tick == limit {
			t.Fatalf("%d of %d arrived", arrived, len(all))
		}
		if tick%20 == 0 {
			spots := make([]fixed.Vec2, len(all))
			for i := range all {
				spots[i] = all[i].At
			}
			places = forms[1].Assign(spots[each:], forms[0].Assign(spots[:each], places[:0]))
		}
		arrived = 0
		for i := range all {
			goal := forms[i/each].Place(int(places[i]), each)
			all[i].Want = bodies.Arrive(all[i].At, goal, fixed.One/8, fixed.One)
			if all[i].At == goal {
				arrived++
			}
		}
		crowd.Move(all, nil)
		if over := worst(all); over > epsilon {
			t.Fatalf("tick %d: overlap %g", tick, over)
		}
	}
}

// The results are the same bits on every machine. They change only with the engine's version.
func TestSums(t *testing.T) {
	rand := fixed.NewStream(12, "sum")
	all, g := crowdScene(&rand, t)
	var crowd bodies.Crowd
	sum := uint64(len(all))
	mix := func(x uint64) { sum = (sum ^ x) * 0x9e3779b97f4a7c15; sum ^= sum >> 29 }
	for tick := range 30 {
		for i := range all {
			if tick%10 == 0 {
				all[i].Want = fixed.Polar(fixed.Turn(rand.Uint32()), fixed.One/4)
			}
			if i%16 != 0 {
				continue
			}
			if hit, ok := (bodies.Shot{From: all[i].At, To: at(12, 12)}).First(all, nil, func(j int) bool { return j == i }); ok {
				mix(uint64(hit.Body))
				mix(hit.Part)
			}
		}
		crowd.Move(all, g)
		for i := range all {
			mix(uint64(all[i].At.X))
			mix(uint64(all[i].At.Y))
		}
	}
	if want := uint64(0x6779b0126fd81b04); sum != want {
		t.Errorf("the sum is %#x, want %#x", sum, want)
	}
}

// crowdScene returns a map with rock, and bodies of all kinds that do not overlap and are not in rock. Some never move.
func crowdScene(rand *fixed.Rand, t *testing.T) (all []bodies.Body, g *grid.Ground) {
	t.Helper()
	s := grid.Shape{Columns: 24, Rows: 24}
	walls := s.NewBits()
	for range 30 {
		walls.Put(s, int32(rand.N(24)), int32(rand.N(24)), true)
	}
	g = new(grid.Terrain).Ground(s, walls)
	for range 400 {
		b := bodies.Body{
			At:     fixed.Vec2{X: rand.Range(0, 24*fixed.One), Y: rand.Range(0, 24*fixed.One)},
			Radius: rand.Range(0, fixed.One/2), Weight: uint16(rand.N(4)),
		}
		if rand.N(3) == 0 {
			b.Half = fixed.Vec2{X: rand.Range(0, fixed.One), Y: rand.Range(0, fixed.One)}
			b.Radius /= 4
		}
		free := !closedUnder(g, &b)
		for i := range all {
			free = free && overlap(&all[i], &b) < 0
		}
		if free {
			all = append(all, b)
		}
	}
	return all, g
}

// closedUnder reports whether the inside of a body's bounding box touches a closed cell.
func closedUnder(g *grid.Ground, b *bodies.Body) bool {
	x, y := b.Half.X+b.Radius, b.Half.Y+b.Radius
	for row := (b.At.Y - y).Int(); fixed.FromInt(row) < b.At.Y+y; row++ {
		for column := (b.At.X - x).Int(); fixed.FromInt(column) < b.At.X+x; column++ {
			if s := g.Shape(); !s.Contains(int32(column), int32(row)) || !g.Open(s.Cell(int32(column), int32(row))) {
				return true
			}
		}
	}
	return false
}

// Bodies that want at random, some of them across the whole map in one tick, neither overlap nor pass walls.
func TestMoveKeepsApart(t *testing.T) {
	rand := fixed.NewStream(6, "apart")
	var crowd bodies.Crowd
	moved := fixed.Q(0)
	for scene := range 4 {
		all, g := crowdScene(&rand, t)
		if len(all) < 40 {
			t.Fatalf("only %d bodies", len(all))
		}
		for tick := range 60 {
			for i := range all {
				speed := fixed.One / 4
				if rand.N(20) == 0 {
					speed = 30 * fixed.One
				}
				if tick%8 == 0 {
					all[i].Want = fixed.Polar(fixed.Turn(rand.Uint32()), speed)
				}
			}
			before := append([]bodies.Body(nil), all...)
			crowd.Move(all, g)
			if over := worst(all); over > epsilon {
				t.Fatalf("scene %d, tick %d: overlap %g", scene, tick, over)
			}
			for i := range all {
				if closedUnder(g, &all[i]) {
					t.Fatalf("scene %d, tick %d: %+v is in rock", scene, tick, all[i])
				}
				step := fixed.Hypot(all[i].At.X-before[i].At.X, all[i].At.Y-before[i].At.Y)
				if moved += step; all[i].Weight == 0 && step != 0 {
					t.Fatalf("%+v moved", all[i])
				}
			}
			fresh := new(bodies.Crowd)
			fresh.Move(before, g)
			for i := range all {
				if before[i] != all[i] {
					t.Fatalf("scene %d, tick %d: a new crowd moves body %d to %v, not %v", scene, tick, i, before[i].At, all[i].At)
				}
			}
		}
	}
	if moved < 1000*fixed.One {
		t.Errorf("they moved %v", moved)
	}
}

// Great bodies that cross a world of 16,384 cells in one tick meet, and do not overlap.
func TestMoveFast(t *testing.T) {
	rand := fixed.NewStream(13, "fast")
	size := fixed.FromInt(16384)
	var crowd bodies.Crowd
	met := 0
	for range 400 {
		all := make([]bodies.Body, 2+rand.N(3))
		for i := range all {
			all[i] = bodies.Body{
				At:     fixed.Vec2{X: rand.Range(0, size), Y: rand.Range(0, size)},
				Radius: rand.Range(0, size) >> rand.N(20) >> 3, Weight: uint16(1 + rand.N(2)),
			}
			if rand.Bool() {
				all[i].Half = fixed.Vec2{X: rand.Range(0, size) >> rand.N(20) >> 3, Y: rand.Range(0, size) >> rand.N(20) >> 3}
			}
		}
		if worst(all) > 0 {
			continue
		}
		for range 8 {
			for i := range all {
				goal := all[(i+1)%len(all)].At
				all[i].Want = goal.Sub(all[i].At).ClampLen(size)
			}
			crowd.Move(all, nil)
			over := worst(all)
			if over > epsilon {
				t.Fatalf("overlap %g of %+v", over, all)
			}
			if over > -0.01 {
				met++
			}
		}
	}
	if met < 100 {
		t.Errorf("they met %d times", met)
	}
}

// A body slides along another that never moves, and a heavy one pushes a light one further than the reverse.
func TestSlideAndPush(t *testing.T) {
	wall := bodies.Body{At: at(5, 0), Half: fixed.Vec2{X: fixed.One, Y: 50 * fixed.One}}
	all := []bodies.Body{wall, {Radius: fixed.One / 2, Weight: 1, Want: fixed.Vec2{X: fixed.One / 4, Y: fixed.One / 4}}}
	var crowd bodies.Crowd
	for range 40 {
		crowd.Move(all, nil)
	}
	if b := all[1].At; b.Y < 9*fixed.One || b.X > 7*fixed.One/2 {
		t.Errorf("it is at %v", b)
	}
	all = []bodies.Body{{Radius: fixed.One, Weight: 3}, {At: fixed.Vec2{X: 3 * fixed.Half}, Radius: fixed.One, Weight: 1}}
	crowd.Separate(all, nil, 20)
	if left, right := -all[0].At.X, all[1].At.X-3*fixed.Half; right < left*5/2 || right > left*7/2 {
		t.Errorf("pushed by %v and %v", left, right)
	}
}

// Separate returns the overlap that is left, and with enough rounds there is none.
func TestSeparate(t *testing.T) {
	for name, c := range map[string]struct {
		n, rounds int
		spread    fixed.Q
		boxes     bool
	}{
		"two at one point":    {2, 20, 0, false},
		"twenty at one point": {20, 300, 0, false},
		"boxes at one point":  {20, 800, 0, true},
		"a dense hundred":     {100, 600, 8 * fixed.One, true},
	} {
		rand := fixed.NewStream(7, "separate")
		all := make([]bodies.Body, c.n)
		for i := range all {
			all[i] = bodies.Body{Radius: fixed.One / 4, Weight: 1 + uint16(rand.N(3))}
			if c.spread > 0 {
				all[i].At = fixed.Vec2{X: rand.Range(0, c.spread), Y: rand.Range(0, c.spread)}
			}
			if c.boxes && i%5 == 4 {
				all[i].Half = fixed.Vec2{X: fixed.One / 4, Y: fixed.One / 2}
			}
		}
		var crowd bodies.Crowd
		before, got := worst(all), crowd.Separate(all, nil, 1)
		if over := worst(all); math.Abs(over-cells(got)) > 1e-8 || over > before {
			t.Errorf("%s: returned %v after one round, it is %g, was %g", name, got, over, before)
		}
		got = crowd.Separate(all, nil, c.rounds)
		if over := worst(all); over > epsilon || got > bodies.Epsilon {
			t.Errorf("%s: overlap %g is left, returned %v", name, over, got)
		}
	}
}

// extremes are numbers at the ends of the range and around zero.
var extremes = []fixed.Q{fixed.MinQ, fixed.MinQ + 1, -bodies.MaxExtent, -fixed.One, -1, 0, 1, fixed.One, bodies.MaxExtent, bodies.MaxExtent + 1, fixed.MaxQ - 1, fixed.MaxQ}

// No numbers make a function panic or hang.
func TestExtremes(t *testing.T) {
	if panics(func() { fixed.MaxQ.Add(1) }) {
		t.Skip("built with samestep_overflow: what would saturate panics")
	}
	rand := fixed.NewStream(8, "extremes")
	any := func() fixed.Q { return extremes[rand.N(uint32(len(extremes)))] }
	vec := func() fixed.Vec2 { return fixed.Vec2{X: any(), Y: any()} }
	s := grid.Shape{Columns: 3, Rows: 3}
	open := new(grid.Terrain).Ground(s, s.NewBits())
	var crowd, soft bodies.Crowd
	for range 300 {
		all := make([]bodies.Body, rand.N(12))
		for i := range all {
			all[i] = bodies.Body{At: vec(), Half: vec(), Radius: any(), Want: vec(), Weight: uint16(rand.N(3)) * 32767}
		}
		crowd.Move(all, nil)
		crowd.Move(all, open)
		soft.Separate(all, open, 3)
		bodies.Shot{From: vec(), To: vec(), Radius: any()}.First(all, nil, nil)
		bodies.Slide(open, vec(), vec(), vec())
		bodies.Arrive(vec(), vec(), any(), any())
		f := bodies.Formation{At: vec(), Facing: fixed.Turn(rand.Uint32()), Files: uint16(rand.N(3)), Spacing: any()}
		f.Place(int(rand.N(9)), 9)
		f.Assign([]fixed.Vec2{vec(), vec(), vec()}, nil)
	}
}

func panics(f func()) (p bool) {
	defer func() { p = recover() != nil }()
	f()
	return false
}

// Any bytes are bodies: a used crowd moves them as a new one does, and none that does not move.
func FuzzCrowd(f *testing.F) {
	f.Add(make([]byte, 51))
	f.Add([]byte("the quick brown fox jumps over the lazy dog and back again, in circles"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var crowd bodies.Crowd
		all := []bodies.Body{}
		p := positions(data)
		for i := 0; i+2 < len(p) && i < 90; i += 3 {
			all = append(all, bodies.Body{At: p[i], Half: fixed.Vec2{X: p[i+1].X}, Radius: p[i+1].Y, Want: p[i+2], Weight: uint16(i % 4)})
		}
		for range 3 {
			other := append([]bodies.Body(nil), all...)
			crowd.Move(all, nil)
			new(bodies.Crowd).Move(other, nil)
			for i := range all {
				if all[i] != other[i] || all[i].Weight == 0 && all[i].At != p[3*i] {
					t.Fatalf("body %d: %+v, %+v", i, all[i], other[i])
				}
			}
		}
	})
}

// Nothing allocates in a tick.
func TestNoAllocations(t *testing.T) {
	all := crowded(200)
	var crowd bodies.Crowd
	var index bodies.Index
	spots := make([]fixed.Vec2, len(all))
	found, places := []uint32{}, []int32{}
	shot := bodies.Shot{To: at(9, 9)}
	tick := func() {
		for i := range all {
			all[i].Want = fixed.Vec2{X: fixed.One / 8}
			spots[i] = all[i].At
		}
		crowd.Move(all, nil)
		near := index.Near(spots, fixed.One)
		found = near.Within(at(5, 5), 4*fixed.One, found[:0])
		found = near.Along(shot.From, shot.To, fixed.One, found[:0])
		shot.First(all, found, nil)
		places = bodies.Formation{Files: 5, Spacing: fixed.One}.Assign(spots, places[:0])
	}
	tick()
	crowd.Separate(all, nil, 3)
	if n := testing.AllocsPerRun(20, tick); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkTick2000 moves 2,000 circles that all walk, half of them one way and half of them the other, and asks for the
// neighbours of an eighth of them, as units look around now and then. Other programs disturb single ticks, so it reports the tenth part of the ticks that were fastest too:
//
//	go test ./fixed/bodies -run '^$' -bench Tick2000 -benchtime 1000x
func BenchmarkTick2000(b *testing.B) {
	all := crowded(2000)
	var crowd bodies.Crowd
	var index bodies.Index
	spots, found := make([]fixed.Vec2, len(all)), []uint32{}
	var times []time.Duration
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		way := fixed.Polar(fixed.Turn(k)<<26, fixed.One/8)
		ways := [2]fixed.Vec2{way, {X: -way.X, Y: -way.Y}}
		start := time.Now()
		for i := range all {
			all[i].Want = ways[i%2]
			spots[i] = all[i].At
		}
		near := index.Near(spots, 2*fixed.One)
		for i := k % 8; i < len(spots); i += 8 {
			found = near.Within(spots[i], 2*fixed.One, found[:0])
		}
		crowd.Move(all, nil)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/10].Nanoseconds())/1e6, "ms/fast-tick")
}

// crowded returns n circles, which cover about 40 % of their square, without overlap.
func crowded(n int) []bodies.Body {
	rand := fixed.NewStream(3, "crowd")
	all := make([]bodies.Body, n)
	side := fixed.FromInt(int64(n)).Sqrt()
	for i := range all {
		all[i] = bodies.Body{
			At:     fixed.Vec2{X: fixed.Q(rand.Uint64() % uint64(side)), Y: fixed.Q(rand.Uint64() % uint64(side))},
			Radius: fixed.One * 3 / 8, Weight: 1,
		}
	}
	var crowd bodies.Crowd
	crowd.Separate(all, nil, 500)
	return all
}
