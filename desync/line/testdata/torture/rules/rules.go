// Package rules is the game of a module with all that is hard to give probes.
package rules

import (
	"example.com/ground"
	"example.com/torture/rules/internal/kinds"
	"github.com/seed-49bee653/samestep/lockstep"
)

// World is the state.
type World struct {
	Tick   uint32
	Units  []Unit
	Totals [16]int64
	Trail  []int32
}

// Unit is an element.
type Unit struct {
	ID   uint32
	X    int32
	Hops uint32
	Kind kinds.Kind
}

// Config is the configuration.
type Config struct{ Speed int32 }

// Rules returns the rules.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name: "torture", Build: "1",
		New: func(w *World, s *lockstep.Settings, c *Config) error {
			for i := range s.Players {
				w.Units = append(w.Units, Unit{ID: uint32(i) + 1, Kind: kinds.Kind(i % 2)})
			}
			return nil
		},
		Step: step,
	}
}

func step(w *World, c *Config, t *lockstep.Turn) {
	w.Tick = uint32(t.Tick)
	for i := range w.Units {
		u := &w.Units[i]
		u.X += c.Speed + ground.Height(u.X)
		u.act(w, c)
	}
	w.Totals[0] = generics(w)
	w.Totals[1] = closures(w)
	w.Totals[2] = methodValues(w)
	w.Totals[3] = selects(w)
	w.Totals[4] = defers(w)
	w.Totals[5] = labels(w)
	w.Totals[6] = iterators(w)
	w.Totals[7] = tagged(w)
	w.Totals[8] = embedded(w)
	w.Totals[9] = shadows(w)
	w.Totals[10] = orders(w)
	w.Totals[11] = lists(w)
	w.Totals[12] = handlers["late"](w) + late
	w.Totals[13] = constants(w)
	w.Totals[14] = outside(int64(w.Tick))
	w.Trail = append(w.Trail, int32(w.Totals[w.Tick%14]))
	if len(w.Trail) > 8 {
		w.Trail = w.Trail[1:]
	}
}

func (u *Unit) act(w *World, c *Config) {
	if u.Kind.Fast() {
		u.X += c.Speed / 2
	}
	w.at(int(u.ID)-1).Hops++
	w.at(int(u.ID) - 1).Hops += uint32(len(w.Units)) / 3
}

func (w *World) at(i int) *Unit { return &w.Units[i] }
