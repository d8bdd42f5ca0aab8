package main

import (
	"encoding/binary"
	"math"
	"slices"
)

const (
	tickRate = 60
	width    = 40 // of the table, from 0 to width
	height   = 20
	radius   = 0.5
	pocket   = 1.6   // the radius of the pockets in the corners
	friction = 0.995 // of the speed that a tick leaves
	fastest  = 0.45  // table units a tick, below a marble's radius
)

// A World is the whole state of a match.
type World struct {
	Tick    uint32
	Seed    uint32 // of the next marble's place
	Players []Player
	Marbles []Marble

	math  arithmetic         `recorder:"-"` // of this machine, and no part of the state
	after func(phase string) `recorder:"-"` // is called after each phase of a step
	draws uint64             `recorder:"-"` // random numbers since the beginning of the step
}

// A Player shoots the marble with its number.
type Player struct {
	Score int32
	Shots uint16
}

// A Marble is a disc on the table. Those with numbers below the number of players belong to them.
type Marble struct {
	ID     uint32
	X, Y   float32
	VX, VY float32 // table units a tick
	LastBy int8    // the player whose shot moved it, or -1
}

// A Shot is a command.
type Shot struct{ Angle, Power float32 }

const kindShot = 1

func (s Shot) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(s.Angle))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(s.Power))
}

// newWorld puts the marbles on the table.
func newWorld(players, marbles int, seed uint32, a arithmetic) *World {
	w := &World{Seed: seed, Players: make([]Player, players), math: a, after: func(string) {}}
	for id := range uint32(marbles) {
		w.Marbles = append(w.Marbles, w.place(id))
	}
	return w
}

// place returns a marble at a free place.
func (w *World) place(id uint32) Marble {
	for {
		m := Marble{ID: id, X: 2 + w.random()*(width-4), Y: 2 + w.random()*(height-4), LastBy: -1}
		if !slices.ContainsFunc(w.Marbles, func(o Marble) bool { return distance(m, o) < 2.5*radius }) {
			return m
		}
	}
}

// random returns a number from 0 up to 1.
func (w *World) random() float32 {
	w.draws++
	w.Seed ^= w.Seed << 13
	w.Seed ^= w.Seed >> 17
	w.Seed ^= w.Seed << 5
	return float32(w.Seed>>8) / (1 << 24)
}

// step runs a tick with the shots of the players; nil is none.
func (w *World) step(shots []*Shot) {
	w.Tick++
	w.draws = 0
	for p, s := range shots {
		if s != nil {
			w.shoot(p, *s)
		}
	}
	w.after("shoot")
	for i := range w.Marbles {
		w.Marbles[i].move()
	}
	w.after("move")
	for i := range w.Marbles {
		for j := range i {
			w.math.collide(&w.Marbles[j], &w.Marbles[i])
		}
	}
	w.after("collide")
	w.pockets()
	w.after("pockets")
}

func (w *World) shoot(player int, s Shot) {
	m := &w.Marbles[player]
	m.VX += float32(math.Cos(float64(s.Angle))) * s.Power
	m.VY += float32(math.Sin(float64(s.Angle))) * s.Power
	m.LastBy = int8(player)
	if speed := length(m.VX, m.VY); speed > fastest {
		m.VX *= fastest / speed
		m.VY *= fastest / speed
	}
	w.Players[player].Shots++
}

// move moves a marble, which bounces off the edges.
func (m *Marble) move() {
	m.VX *= friction
	m.VY *= friction
	if length(m.VX, m.VY) < 0.001 {
		m.VX, m.VY = 0, 0
	}
	m.X += m.VX
	m.Y += m.VY
	if m.X < radius && m.VX < 0 || m.X > width-radius && m.VX > 0 {
		m.VX = -m.VX
	}
	if m.Y < radius && m.VY < 0 || m.Y > height-radius && m.VY > 0 {
		m.VY = -m.VY
	}
}

// pockets gives the marbles in a corner to the players who shot them there, and puts them back on the table.
func (w *World) pockets() {
	for i := range w.Marbles {
		m := &w.Marbles[i]
		x, y := min(m.X, width-m.X), min(m.Y, height-m.Y)
		if length(x, y) > pocket+radius {
			continue
		}
		switch own := int(m.ID) < len(w.Players); {
		case own:
			w.Players[m.ID].Score -= 2
		case m.LastBy >= 0:
			w.Players[m.LastBy].Score++
		}
		*m = w.place(m.ID)
	}
}

func distance(a, b Marble) float32 { return length(b.X-a.X, b.Y-a.Y) }

func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(x)*float64(x) + float64(y)*float64(y)))
}
