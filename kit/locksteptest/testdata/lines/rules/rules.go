package rules

import "github.com/seed-49bee653/samestep/lockstep"

type World struct {
	Sum   int64
	Units []Unit
	total int64   `state:"derived"`
	calls int64   `state:"derived"`
	grid  []int64 `state:"derived"`
	asked int64   `state:"derived"`
}

type Unit struct {
	ID uint32
	X  int64
}

type Config struct{}

type Move struct{ By int8 }

func Variant(bug string) lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name: "lines", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Move](1, "move")},
		New:      func(w *World, s *lockstep.Settings, c *Config) error { w.Units = make([]Unit, 4); return nil },
		Derive: func(w *World, _ *Config) {
			w.total, w.grid, w.asked = 0, nil, 0
			for i := range w.Units {
				w.total += w.Units[i].X
			}
		},
		Step: func(w *World, _ *Config, t *lockstep.Turn) { w.step(bug, t) },
	}
}

func (w *World) step(bug string, t *lockstep.Turn) {
	for _, c := range t.Commands {
		if m, ok := c.Value.(*Move); ok {
			w.Units[c.Player%4].X += int64(m.By)
			if bug != "stale" || m.By%8 != 0 {
				w.total += int64(m.By) // the line of stale
			}
		}
	}
	if bug == "lazy" {
		if w.grid == nil { // it is built when it is asked for, and decides nothing
			w.grid = make([]int64, 4)
			w.grid[1]++
		}
		w.asked++ // the line of lazy
		if w.asked == 50 {
			w.Sum += w.grid[1]
		}
	}
	t.Each(len(w.Units), func(i int, _ *lockstep.Turn) {
		next := w.Units[(i+1)%4].X // the line of each
		if bug == "each" {
			w.Units[i].X += next & 1
		}
	})
	w.calls++ // the line of outside
	if bug == "outside" && w.calls == 50 {
		w.Sum += 7
	}
	if bug == "map" {
		for k := range map[int64]bool{1: true, 2: true, 3: true, 4: true} { // the line of map
			w.Sum = 3*w.Sum + k
		}
	}
	w.Sum += w.total
}
