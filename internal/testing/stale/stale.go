// Package stale has rules whose results depend on more than the state: each kind has one planted cache. Units wander, appear, vanish and are
// hit, walls rise and fall, and now and then a question is answered from the cache, into the score.
package stale

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Unit is one of the world's.
type Unit struct {
	ID     uint32
	X      int32
	Health int32
}

// A World is the state.
type World struct {
	Random uint64
	Next   uint32 // ID
	Units  []Unit // by ID
	Walls  [32]bool
	Score  int64
	cache  cache `state:"derived"`
}

// cache is what the kinds keep outside of the state.
type cache struct {
	sum     int64
	index   map[uint32]int32
	order   []uint32
	version uint32
	known   bool
	buffer  []int32
	drawn   []uint64
	high    bool
}

// A kind is a way to use the cache. Nil functions do nothing.
type kind struct {
	create  func(w *World) // at the end of New
	derive  func(w *World)
	moved   func(w *World) // in each tick
	spawned func(w *World, u *Unit)
	killed  func(w *World, i int) // before it
	walled  func(w *World)
	hit     func(w *World, u *Unit, by int32) // after it
	ask     func(w *World) int64
	keeps   bool // Derive changes nothing
}

// Kinds are the names of the planted caches.
var Kinds = []string{
	"derived sum", "derived index", "made by New", "memo by version", "lazy map", "order of history",
	"dirty buffer", "package variable", "hysteresis", "path of old walls", "running mean", "drawn ahead",
}

// None is the name of rules without a cache.
const None = "none"

// Rules returns the rules with a planted cache. Each call has a package variable of its own.
func Rules(name string) lockstep.Rules[World, struct{}] {
	k := kindOf(name)
	return lockstep.Rules[World, struct{}]{
		Name: "stale", Build: name,
		New: func(w *World, s *lockstep.Settings, _ *struct{}) error {
			w.Random = 2*s.Seed + 1
			for range 12 {
				w.spawn()
			}
			if k.create != nil {
				k.create(w)
			}
			return nil
		},
		Derive: func(w *World, _ *struct{}) {
			if !k.keeps {
				w.cache = cache{}
			}
			if k.derive != nil {
				k.derive(w)
			}
		},
		Step: func(w *World, _ *struct{}, _ *lockstep.Turn) { w.step(&k) },
	}
}

func (w *World) random(n uint64) uint64 {
	w.Random ^= w.Random << 13
	w.Random ^= w.Random >> 7
	w.Random ^= w.Random << 17
	return w.Random * 0x2545f4914f6cdd1d >> 33 % n
}

func (w *World) spawn() *Unit {
	w.Next++
	w.Units = append(w.Units, Unit{w.Next, int32(w.random(32)), 50 + int32(w.random(50))})
	return &w.Units[len(w.Units)-1]
}

func (w *World) step(k *kind) {
	for i := range w.Units {
		w.Units[i].X = (w.Units[i].X + int32(w.random(3)) + 31) % 32
	}
	if k.moved != nil {
		k.moved(w)
	}
	switch event := w.random(120); {
	case event < 3 && len(w.Units) < 24:
		if u := w.spawn(); k.spawned != nil {
			k.spawned(w, u)
		}
	case event < 6 && len(w.Units) > 6:
		i := int(w.random(uint64(len(w.Units))))
		if k.killed != nil {
			k.killed(w, i)
		}
		w.Units = slices.Delete(w.Units, i, i+1)
	case event < 10:
		i := w.random(uint64(len(w.Walls)))
		if w.Walls[i] = !w.Walls[i]; k.walled != nil {
			k.walled(w)
		}
	case event < 20:
		u := &w.Units[w.random(uint64(len(w.Units)))]
		by := int32(w.random(9)) - 4
		if u.Health += by; k.hit != nil {
			k.hit(w, u, by)
		}
	case event < 30 && k.ask != nil:
		w.Score += k.ask(w)
	}
}

func (w *World) health() (sum int64) {
	for i := range w.Units {
		sum += int64(w.Units[i].Health)
	}
	return sum
}

func (w *World) ids() (all []uint32) {
	for i := range w.Units {
		all = append(all, w.Units[i].ID)
	}
	return all
}

// far returns how far a unit gets from a place without meeting a wall.
func (w *World) far(from int32) (n int32) {
	for n < 32 && !w.Walls[(from+n)%32] {
		n++
	}
	return n
}

func kindOf(name string) kind {
	sum := func(w *World) { w.cache.sum = w.health() }
	switch name {
	case "derived sum": // Step forgets the units that vanish
		return kind{
			create: sum, derive: sum, spawned: func(w *World, u *Unit) { w.cache.sum += int64(u.Health) },
			hit: func(w *World, _ *Unit, by int32) { w.cache.sum += int64(by) },
			ask: func(w *World) int64 { return w.cache.sum },
		}
	case "derived index": // a hit is not written to it
		index := func(w *World) {
			w.cache.index = map[uint32]int32{}
			for i := range w.Units {
				w.cache.index[w.Units[i].ID] = w.Units[i].Health
			}
		}
		return kind{
			create: index, derive: index, spawned: func(w *World, u *Unit) { w.cache.index[u.ID] = u.Health },
			ask: func(w *World) int64 { return int64(w.cache.index[w.Units[int(w.random(uint64(len(w.Units))))].ID]) },
		}
	case "made by New":
		return kind{keeps: true, create: func(w *World) { w.cache.sum = 7 }, ask: func(w *World) int64 { return w.cache.sum }}
	case "memo by version": // of the units, not of their health
		return kind{ask: func(w *World) int64 {
			if c := &w.cache; !c.known || c.version != w.Next {
				c.known, c.version, c.sum = true, w.Next, w.health()
			}
			return w.cache.sum
		}}
	case "lazy map": // filled when it is asked, and never emptied
		return kind{ask: func(w *World) int64 {
			if w.cache.index == nil {
				w.cache.index = map[uint32]int32{}
			}
			u := &w.Units[int(w.random(uint64(len(w.Units))))]
			h, ok := w.cache.index[u.ID]
			if !ok {
				h = u.Health
				w.cache.index[u.ID] = h
			}
			return int64(h)
		}}
	case "order of history": // the last takes the place of one that vanishes
		order := func(w *World) { w.cache.order = w.ids() }
		return kind{
			create: order, derive: order, spawned: func(w *World, u *Unit) { w.cache.order = append(w.cache.order, u.ID) },
			killed: func(w *World, i int) {
				o := w.cache.order
				at := slices.Index(o, w.Units[i].ID)
				o[at] = o[len(o)-1]
				w.cache.order = o[:len(o)-1]
			},
			ask: func(w *World) int64 { return int64(w.cache.order[int(w.random(uint64(len(w.cache.order))))]) },
		}
	case "dirty buffer": // used again without being cleared
		return kind{ask: func(w *World) int64 {
			if w.cache.buffer == nil {
				w.cache.buffer = make([]int32, 32)
			}
			for i := range w.Units {
				w.cache.buffer[w.Units[i].X] = w.Units[i].Health
			}
			return int64(w.cache.buffer[w.random(32)])
		}}
	case "package variable": // how many questions this process has answered
		asked := int64(0)
		return kind{ask: func(*World) int64 { asked++; return asked / 4 }}
	case "hysteresis": // which Derive cannot know
		high := func(w *World) { w.cache.high = w.health()/int64(len(w.Units)) > 74 }
		return kind{
			create: high, derive: high,
			moved: func(w *World) {
				switch mean := w.health() / int64(len(w.Units)); {
				case mean > 78:
					w.cache.high = true
				case mean < 70:
					w.cache.high = false
				}
			},
			ask: func(w *World) int64 {
				if w.cache.high {
					return 1
				}
				return 2
			},
		}
	case "path of old walls": // only a new unit looks at the walls
		look := func(w *World) {
			w.cache.buffer = nil
			for i := range int32(32) {
				w.cache.buffer = append(w.cache.buffer, w.far(i))
			}
		}
		return kind{
			create: look, derive: look, spawned: func(w *World, _ *Unit) { look(w) },
			ask: func(w *World) int64 { return int64(w.cache.buffer[w.random(32)]) },
		}
	case "running mean": // its remainder is lost at each hit
		mean := func(w *World) { w.cache.sum = w.health() / int64(len(w.Units)) }
		return kind{
			create: mean, derive: mean, spawned: func(w *World, _ *Unit) { mean(w) },
			hit: func(w *World, _ *Unit, by int32) { w.cache.sum += int64(by) / int64(len(w.Units)) },
			ask: func(w *World) int64 { return w.cache.sum },
		}
	case "drawn ahead": // from the generator in the state
		return kind{ask: func(w *World) int64 {
			if len(w.cache.drawn) == 0 {
				for range 8 {
					w.cache.drawn = append(w.cache.drawn, w.random(100))
				}
			}
			n := w.cache.drawn[0]
			w.cache.drawn = w.cache.drawn[1:]
			return int64(n)
		}}
	case None:
		return kind{ask: (*World).health}
	case "a clock": // rules without a fixed result
		n := int64(0)
		return kind{ask: func(*World) int64 { n++; return n }}
	}
	panic("stale: no such kind: " + name)
}
