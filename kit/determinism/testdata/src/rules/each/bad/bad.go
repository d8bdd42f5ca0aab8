//samestep:deterministic
package bad

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

type World struct {
	Units  []Unit
	Rand   fixed.Rand
	Total  int
	next   []Unit
	byID   map[uint32]int
	counts []int
	out    []int
	scan   func(i int, own *lockstep.Turn)
	found  Tally
	turn   *lockstep.Turn
}

type Unit struct {
	ID, Health uint32
	Path       []uint16
}

type Tally struct{ n int }

func (t *Tally) add(n int) {
	t.n += n // want `each: `
}

func (w *World) unit(i int) *Unit { return &w.Units[i] }

func (w *World) harm(i int) {
	w.Units[i].Health-- // want `each: `
}

func (w *World) count(u *Unit) {
	w.counts[u.ID%8]++ // want `each: `
}

func step(w *World, t *lockstep.Turn) {
	total := 0
	var list []int
	w.turn = t
	t.Each(len(w.Units), func(i int, own *lockstep.Turn) {
		u := &w.Units[i]
		total += int(u.Health)   // want `each: `
		w.Total++                // want `each: `
		list = append(list, i)   // want `each: `
		w.out = append(w.out, i) // want `each: `
		w.byID[u.ID] = i         // want `each: `
		w.next[(i+1)%8] = *u     // want `each: `
		w.Units[i/2].Health = 0  // want `each: `
		w.unit(i+1).Health--     // want `each: `
		_ = w.Rand.N(6)          // want `each: `
		slices.Sort(w.counts)    // want `each: `
		w.found.add(i)
		tmp := append(w.out[:0], i) // want `each: `
		_ = tmp
		clear(w.counts) // want `each: `
		k := i
		k++
		w.next[k] = *u // want `each: `
		for j := range w.next {
			w.next[j].Health = 0 // want `each: `
		}
		for _, other := range w.Units {
			other.Path[0] = 1 // want `each: `
		}
		victim := u
		if u.Health == 0 {
			victim = &w.Units[0]
		}
		victim.Health++ // want `each: `
		w.count(u)
		w.harm(i + 1)
		lockstep.Emit(t, i) // want `each: `
		w.turn.Drew("x", 1) // want `each: `
		own.Phase("x")      // want `each: `
		w.out[i*4+1] = 2    // want `each: `
		first := func() *Unit { return &w.Units[0] }
		first().Health--             // want `each: `
		w.Units[uint8(i)].Health = 1 // want `each: `
		w.next[uint32(i)].Health = 1
	})
	w.scan = w.look
	t.Each(len(w.Units), w.scan)
	t.Each(len(w.Units), passed) // want `each: `
}

func (w *World) look(i int, _ *lockstep.Turn) {
	w.Units[i].Health += w.Units[0].Health
	w.Total += i // want `each: `
}

var passed func(i int, own *lockstep.Turn)
