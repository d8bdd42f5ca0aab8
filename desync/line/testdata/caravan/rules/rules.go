// Package rules is a game of caravans that trade between towns.
package rules

import (
	"example.com/caravan/goods"
	"example.com/caravan/roads"
	"github.com/seed-49bee653/samestep/lockstep"
)

// World is the state.
type World struct {
	Tick     uint32
	Drawn    uint64
	Towns    []Town
	Caravans []Caravan
	News     []int32
	Tallies  [40]int64
	Stamp    Stamp
	Next     []uint16 `state:"derived"` // for each town the nearest other one
	Worth    int64    `state:"derived"` // of all stocks
}

// Town is a place where goods are sold.
type Town struct {
	ID     uint32
	At     roads.Point
	Stock  [goods.Kinds]int32
	Price  [goods.Kinds]int32
	Cash   int64
	Recent []int32
	Mood   int32
}

// Caravan goes from town to town.
type Caravan struct {
	ID    uint32
	At    roads.Point
	Goal  uint16
	Left  uint32 // the tick in which it set out
	Purse int64
	Loads []Load
	Wait  int16
	Tired int32
}

// Load is a good of which a caravan has some.
type Load struct {
	Good  uint8
	Count int32
	Paid  int32
}

// Stamp is when something was done by whom.
type Stamp struct {
	By    uint32
	Count uint16
	Where roads.Point
}

// Config is the configuration.
type Config struct{ Towns, Caravans uint8 }

// Rules returns the rules.
func Rules() lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name: "caravan", Build: "1",
		New:    found,
		Step:   step,
		Derive: derive,
	}
}

func found(w *World, s *lockstep.Settings, c *Config) error {
	w.Drawn = s.Seed + 88172645463325252
	for i := range c.Towns {
		t := Town{ID: uint32(i) + 1, At: roads.Point{X: int32(w.draw(90)), Y: int32(w.draw(60))}, Cash: 900}
		for g := range t.Stock {
			t.Stock[g], t.Price[g] = int32(w.draw(30))+5, 20
		}
		w.Towns = append(w.Towns, t)
	}
	for i := range c.Caravans {
		w.Caravans = append(w.Caravans, Caravan{ID: uint32(i) + 100, At: w.Towns[i%c.Towns].At, Goal: uint16(i % c.Towns), Purse: 400})
	}
	derive(w, c)
	return nil
}

func derive(w *World, _ *Config) {
	var places []roads.Point
	for i := range w.Towns {
		places = append(places, w.Towns[i].At)
	}
	w.Next = roads.Nearest(places)
	w.Worth = 0
	for i := range w.Towns {
		w.Worth += w.Towns[i].worth()
	}
}

// draw returns a number below n.
func (w *World) draw(n uint64) uint64 {
	w.Drawn ^= w.Drawn << 13
	w.Drawn ^= w.Drawn >> 7
	w.Drawn ^= w.Drawn << 17
	return w.Drawn >> 20 % n
}
