package platforms

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
)

// Draw draws a world on the game's page, with units of the usual size. The net below everything is not in the picture.
func Draw(c *canvas.Canvas, w *World) {
	box := func(b bounds, colour canvas.Colour) {
		c.Rect(at(b.left, b.bottom), at(b.right, b.top), colour)
	}
	for i := range level {
		switch b := &level[i]; {
		case b.Enter == Teleport:
			box(b.bounds(), 0x8f5ff299)
		case !b.Trigger:
			box(b.bounds(), 0x6d7683ff)
		}
	}
	usual := Usual(0)
	for i := range w.Units {
		box(usual.unitBounds(&w.Units[i]), canvas.PlayerColour(i))
	}
}

// at returns a place of the picture, whose y axis points down.
func at(x, y int64) fixed.Vec2 { return fixed.Vec2{X: fixed.FromInt(x), Y: fixed.FromInt(-y)} }

// The keys of a player.
const (
	left, right, jump = "ArrowLeft", "ArrowRight", "ArrowUp"
)

// NewInput returns the keys that move a player's unit: it walks while an arrow is held, and jumps.
func NewInput() input.Handler[World] {
	var number uint64 // of the last command, as one tick can have several
	return input.Handler[World]{
		Keys: []string{left, right, jump},
		Act: func(w *World, e *input.Event) []any {
			targets := []uint64{uint64(w.UnitID(lockstep.Player(e.Seat)))}
			number++
			switch {
			case e.Action == input.Press && e.Key == jump:
				return []any{&Jump{Number: number, Targets: targets}}
			case e.Action == input.Press, e.Action == input.Release && e.Key != jump:
				return []any{&Move{Number: number, Targets: targets, X: way(e.Held)}}
			}
			return nil // the mouse moves nothing
		},
		Hover: func(*World, *input.Event, *canvas.Canvas) string { return "← → walk, ↑ jumps" },
	}
}

// way returns the direction of the arrow that was pressed last of those that are held.
func way(held []string) (x int8) {
	for _, key := range held {
		switch key {
		case left:
			x = -1
		case right:
			x = 1
		}
	}
	return x
}
