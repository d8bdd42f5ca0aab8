package main

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

const (
	tickRate = 60
	arena    = 100 // from 0 to arena in both directions
)

// The buttons of an input.
const (
	left uint8 = 1 << iota
	right
	thrust
	fire
)

// A Duel is the state of a match between two ships.
type Duel struct {
	Tick  uint32
	Ships [2]Ship
	Shots []Shot

	phases [2]uint64 `recorder:"-"` // sums after the phases of the step that made it
}

// phases of a step, in their order.
var phases = [2]string{"steer", "fly"}

// A Ship turns, flies and fires.
type Ship struct {
	X, Y     float32
	VX, VY   float32
	Heading  uint8 // one of headings
	Cooldown uint8 // ticks until it can fire
	Hits     uint16
}

// A Shot flies straight on for some ticks.
type Shot struct {
	Owner  uint8
	Left   uint8 // ticks
	X, Y   float32
	VX, VY float32
}

// headings are the directions of a ship: eight, so that no machine computes a sine.
var headings = [8][2]float32{{1, 0}, {0.7071, 0.7071}, {0, 1}, {-0.7071, 0.7071}, {-1, 0}, {-0.7071, -0.7071}, {0, -1}, {0.7071, -0.7071}}

func newDuel() *Duel {
	return &Duel{Ships: [2]Ship{{X: 30, Y: 50}, {X: 70, Y: 50, Heading: 4}}}
}

// clone returns a copy that shares nothing with d.
func (d *Duel) clone() *Duel {
	c := *d
	c.Shots = slices.Clone(d.Shots)
	return &c
}

// step runs a tick.
func (d *Duel) step(inputs [2]uint8) {
	d.Tick++
	for p := range d.Ships {
		d.steer(p, inputs[p])
	}
	d.phases[0] = d.sum()
	for i := range d.Shots {
		d.fly(&d.Shots[i])
	}
	d.Shots = slices.DeleteFunc(d.Shots, func(s Shot) bool { return s.Left == 0 })
	d.phases[1] = d.sum()
}

// sum returns a sum of the ships and shots.
func (d *Duel) sum() uint64 {
	h := fnv.New64a()
	binary.Write(h, binary.LittleEndian, d.Ships) // no error: the size is fixed, and a hash takes all
	binary.Write(h, binary.LittleEndian, d.Shots)
	return h.Sum64()
}

func (d *Duel) steer(p int, input uint8) {
	s := &d.Ships[p]
	if d.Tick%4 == 0 {
		if input&left != 0 {
			s.Heading = (s.Heading + 7) % 8
		}
		if input&right != 0 {
			s.Heading = (s.Heading + 1) % 8
		}
	}
	h := headings[s.Heading]
	if input&thrust != 0 {
		s.VX += h[0] * 0.02
		s.VY += h[1] * 0.02
	}
	s.VX *= 0.99
	s.VY *= 0.99
	s.X, s.Y = around(s.X+s.VX), around(s.Y+s.VY)
	switch {
	case s.Cooldown > 0:
		s.Cooldown--
	case input&fire != 0:
		s.Cooldown = 20
		d.Shots = append(d.Shots, Shot{uint8(p), 60, s.X, s.Y, s.VX + h[0], s.VY + h[1]})
	}
}

// fly moves a shot, which is spent if it hits the other ship.
func (d *Duel) fly(s *Shot) {
	s.Left--
	s.X, s.Y = around(s.X+s.VX), around(s.Y+s.VY)
	other := &d.Ships[1-s.Owner]
	if dx, dy := s.X-other.X, s.Y-other.Y; float32(dx*dx)+float32(dy*dy) < 9 {
		d.Ships[s.Owner].Hits++
		s.Left = 0
	}
}

// around keeps a coordinate in the arena, which has no edges.
func around(x float32) float32 {
	switch {
	case x < 0:
		return x + arena
	case x >= arena:
		return x - arena
	}
	return x
}
