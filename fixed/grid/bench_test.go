package grid_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// The benchmarks compare this package with what a game would write by hand, in one run:
//
//	go test ./fixed/grid -run '^$' -bench . -count 6

const benchSide = 256

func benchMap() (naive, grid.Shape, grid.Bits) { return random(5, benchSide, benchSide, 12) }

// A handFlow is a flow field as one writes it for a game: a queue for each cost, and a test of each neighbour.
type handFlow struct {
	cost  []uint16
	to    []uint8
	queue [4][]int32
}

func (f *handFlow) compute(n *naive, goal int32) {
	clear(f.cost)
	clear(f.to)
	f.cost[goal] = 1
	f.queue[0] = append(f.queue[0], goal)
	for cost, left := uint16(1), 1; left > 0; cost++ {
		queue := f.queue[(cost-1)%4]
		f.queue[(cost-1)%4] = queue[:0]
		left -= len(queue)
		for _, c := range queue {
			if f.cost[c] != cost {
				continue
			}
			x, y := int(c)%n.columns, int(c)/n.columns
			for d, m := range &moves {
				if !n.isOpen(x+m[0], y+m[1]) || m[2] == 3 && (!n.isOpen(x+m[0], y) || !n.isOpen(x, y+m[1])) {
					continue
				}
				next := c + int32(m[1]*n.columns+m[0])
				if v := cost + uint16(m[2]); f.cost[next] == 0 || v < f.cost[next] {
					f.cost[next], f.to[next] = v, uint8(d+1)
					f.queue[(v-1)%4] = append(f.queue[(v-1)%4], next)
					left++
				}
			}
		}
	}
}

func BenchmarkFlow(b *testing.B) {
	n, s, walls := benchMap()
	var terrain grid.Terrain
	g := terrain.Ground(s, walls)
	goal, _ := g.Nearest(grid.Cell(s.Cells()/2+benchSide/3), 9)
	b.Run("by=hand", func(b *testing.B) {
		f := handFlow{cost: make([]uint16, s.Cells()), to: make([]uint8, s.Cells())}
		f.compute(&n, int32(goal))
		b.ReportAllocs()
		for b.Loop() {
			f.compute(&n, int32(goal))
		}
	})
	b.Run("by=grid", func(b *testing.B) {
		var f grid.Flow
		f.Run(g, goal, 1<<31)
		b.ReportAllocs()
		for b.Loop() {
			f.Run(g, goal, 0)
			f.Run(g, goal, 1<<31)
		}
	})
}

// A look is a unit's sight of radius 9.
func BenchmarkLook(b *testing.B) {
	_, s, _ := benchMap()
	at := fixed.Vec2{X: 100 * fixed.One, Y: 99 * fixed.One}
	b.Run("by=hand", func(b *testing.B) {
		set := make([]bool, s.Cells())
		for b.Loop() {
			cx, cy := int(at.X.Int()), int(at.Y.Int())
			for y := max(cy-9, 0); y <= min(cy+9, benchSide-1); y++ {
				for x := max(cx-9, 0); x <= min(cx+9, benchSide-1); x++ {
					if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= 90 {
						set[y*benchSide+x] = true
					}
				}
			}
		}
	})
	b.Run("by=grid", func(b *testing.B) {
		fog := grid.NewFog(s)
		for b.Loop() {
			fog.Look(s, at, 9)
		}
	})
}

// A search crosses the map.
func BenchmarkSearch(b *testing.B) {
	n, s, walls := benchMap()
	var terrain grid.Terrain
	g := terrain.Ground(s, walls)
	from, _ := g.Nearest(0, 9)
	to, _ := g.Nearest(s.Cell(200, 180), 9)
	b.Run("by=hand", func(b *testing.B) { // a heap and a table
		h := handSearch{cost: make([]int32, len(n.open)), before: make([]int32, len(n.open))}
		b.ReportAllocs()
		for b.Loop() {
			h.find(&n, int32(from), int32(to))
		}
	})
	b.Run("by=grid", func(b *testing.B) {
		var search grid.Search
		path, _ := search.Find(g, from, to, nil)
		b.ReportAllocs()
		for b.Loop() {
			path, _ = search.Find(g, from, to, path[:0])
		}
	})
}

// A handSearch is A* with a binary heap of (estimate, cell).
type handSearch struct {
	cost, before []int32
	heap         [][2]int32
}

func (h *handSearch) push(estimate, cell int32) {
	h.heap = append(h.heap, [2]int32{estimate, cell})
	for i := len(h.heap) - 1; i > 0 && h.heap[i][0] < h.heap[(i-1)/2][0]; i = (i - 1) / 2 {
		h.heap[i], h.heap[(i-1)/2] = h.heap[(i-1)/2], h.heap[i]
	}
}

func (h *handSearch) pop() int32 {
	top, last := h.heap[0][1], len(h.heap)-1
	h.heap[0] = h.heap[last]
	h.heap = h.heap[:last]
	for i := 0; ; {
		least := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < last && h.heap[k][0] < h.heap[least][0] {
				least = k
			}
		}
		if least == i {
			return top
		}
		h.heap[i], h.heap[least] = h.heap[least], h.heap[i]
		i = least
	}
}

func (h *handSearch) find(n *naive, from, to int32) (cost int32) {
	for c := range h.cost {
		h.cost[c] = 1 << 30
	}
	h.heap, h.cost[from] = h.heap[:0], 0
	h.push(0, from)
	for len(h.heap) > 0 {
		c := h.pop()
		if c == to {
			return h.cost[to]
		}
		for _, m := range &moves {
			next := n.step(int(c), m)
			if next < 0 || h.cost[c]+int32(m[2]) >= h.cost[next] {
				continue
			}
			h.cost[next], h.before[next] = h.cost[c]+int32(m[2]), c
			dx, dy := int32(next%n.columns)-to%benchSide, int32(next/n.columns)-to/benchSide
			dx, dy = max(dx, -dx), max(dy, -dy)
			h.push(h.cost[next]+2*max(dx, dy)+min(dx, dy), int32(next))
		}
	}
	return -1
}

// BenchmarkGround compares the cells of a map, without a change and with one.
func BenchmarkGround(b *testing.B) {
	_, s, walls := benchMap()
	var terrain grid.Terrain
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			terrain.Ground(s, walls)
		}
	})
	b.Run("one-wall", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			walls[777] ^= 1 << 9
			terrain.Ground(s, walls)
		}
	})
}

// Nothing allocates once the caches have their size.
func TestNoAllocations(t *testing.T) {
	_, s, walls := random(5, 64, 64, 12)
	var terrain grid.Terrain
	var paths grid.Paths
	var flows grid.Flows
	var search grid.Search
	fog, fields, path := grid.NewFog(s), make(grid.Fields, 4), make([]grid.Cell, 0, 4096)
	tick := uint32(0)
	step := func() {
		tick++
		walls[tick%64] ^= 1 << (tick % 50)
		g := terrain.Ground(s, walls)
		for goal := range grid.Cell(70) {
			paths.Next(g, goal, 3000)
		}
		for goal := range grid.Cell(5) {
			if slot := fields.Claim(goal, tick, 0); slot >= 0 {
				flows.Follow(g, fields, slot, 3000, tick)
			}
		}
		flows.Grow(g, fields, tick, 1000)
		path, _ = search.Find(g, 700, 3000, path[:0])
		fog.Clear()
		fog.Look(s, fixed.Vec2{X: 9 * fixed.One, Y: 9 * fixed.One}, 12)
		fog.Remember()
		g.Sees(s.Center(700), s.Center(3000))
	}
	for range 100 {
		step()
	}
	if got := testing.AllocsPerRun(20, step); got != 0 {
		t.Errorf("%v allocations in a tick", got)
	}
}
