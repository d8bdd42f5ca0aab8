// Package workshop is a game whose every tick does another job: through pointers, closures, type parameters and calls of the
// standard library. A test plants a mistake in each job, and all of them in one build.
package workshop

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/planted/workshop/tools"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Shop is the state.
type Shop struct {
	Tick   uint32
	Parts  []tools.Part
	Queue  []int32
	Shelf  []int32
	Label  string
	Packed []byte
	Sum    int64
	Dice   fixed.Rand
	Bench  tools.Bench
}

// Setup is the configuration.
type Setup struct{ Parts uint32 }

// Rules returns the rules.
func Rules() lockstep.Rules[Shop, Setup] {
	return lockstep.Rules[Shop, Setup]{
		Name: "workshop", Build: "1",
		New: func(w *Shop, s *lockstep.Settings, c *Setup) error {
			for i := range c.Parts {
				w.Parts = append(w.Parts, tools.Part{ID: i + 1, Size: int32(i*7%5) + 1, Wear: int32(i * 3 % 7), Path: []int32{int32(i), 2, 3}})
			}
			return nil
		},
		Step: step,
	}
}

// Jobs are the jobs by tick, from the first on.
var Jobs = []func(*Shop){
	sharpen, polish, turn, rotate, shift, empty, forget, sift, extend, arrange,
	visit, remember, raise, pack, label, roll, count, oil, hand, lend,
	note, drain, wait, stall, fill, climb, shut,
}

func step(w *Shop, c *Setup, t *lockstep.Turn) {
	w.Tick = uint32(t.Tick)
	w.Queue = append(w.Queue[:0], 1, 2, 3, 4, 5, 6)
	w.Shelf = append(w.Shelf[:0], 9, 8, 7)
	w.Packed = append(w.Packed[:0], make([]byte, 12)...)
	if i := int(w.Tick) - 1; i < len(Jobs) {
		Jobs[i](w)
	}
	w.Sum += total(w.Queue) + 3*total(w.Shelf) + int64(slices.Max(w.Packed))
	for i := range w.Parts {
		p := &w.Parts[i]
		w.Sum = w.Sum*3 + int64(p.Size)*int64(p.Wear) + total(p.Path)
	}
}

func total(list []int32) (sum int64) {
	for i, v := range list {
		sum += int64(i+1) * int64(v)
	}
	return sum
}
