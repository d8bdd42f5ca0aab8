//samestep:deterministic
package good

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Seed  uint64
	Units []Unit
	next  []Unit
	sums  [8]int
	rows  [][]int
	grid  []uint8
	scan  func(i int, own *lockstep.Turn)
}

type Unit struct {
	ID, Health uint32
	Path       []uint16
}

func (w *World) unit(i int) *Unit { return &w.Units[i] }

func (w *World) heal(i int) { w.Units[i].Health++ }

func (u *Unit) walk(to uint16) { u.Path = append(u.Path, to) }

func (u *Unit) advise(w *World, i int, own *lockstep.Turn) {
	own.Drew("way", u.ID)
	lockstep.Emit(own, i)
	u.Health = w.nearest(i).Health
}

func (w *World) nearest(i int) *Unit {
	best := &w.next[0]
	for j := range w.next {
		if w.next[j].ID < best.ID && j != i {
			best = &w.next[j]
		}
	}
	return best
}

func step(w *World, t *lockstep.Turn) {
	w.next = append(w.next[:0], w.Units...)
	t.Each(len(w.Units), func(i int, own *lockstep.Turn) {
		u, before := &w.Units[i], w.next[i]
		dice := fixed.NewRand(w.Seed + uint64(i))
		u.Health += before.Health + dice.N(6)
		w.sums[i&7+0] += 0 //samestep:allow each the indexes of a test
		w.rows[i] = append(w.rows[i][:0], 3)
		w.rows[i][0]++
		at := uint32(i)
		w.next[at].Health = 1
		w.unit(i).walk(7)
		w.heal(i)
		u.advise(w, i, own)
		list := make([]int, 0, 8)
		list = append(list, i)
		list[0] = 2
		slices.Sort(list)
		seen := map[int]bool{}
		seen[i] = true
		row := w.grid[i*16 : (i+1)*16]
		for k := range row {
			row[k]++
		}
		add := func(n int) { list[0] += n }
		add(4)
		copied := *u
		copied.Health = 0
		var local Unit
		p := &local
		p.Health = copied.Health
	})
	if w.scan == nil {
		w.scan = func(i int, _ *lockstep.Turn) { w.Units[i].Health = w.nearest(i).ID }
	}
	t.Each(len(w.Units), w.scan)
	total := uint32(0)
	for i := range w.Units {
		total += w.Units[i].Health
	}
	w.Seed += uint64(total)
}
