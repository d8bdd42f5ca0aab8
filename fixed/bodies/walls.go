package bodies

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// Slide moves a box with its middle at a place by a way (cells), and returns where its middle is then. half is half of its
// width and height. It stops at cells that are not open, and slides along them. It enters no such cell, at any speed; the
// part of one in which it is already does not hold it. It moves first along X, then along Y, in steps of half a cell, and in
// 64 greater ones if the way is longer than 32 cells. All is open if the ground is nil.
func Slide(g *grid.Ground, at, half, by fixed.Vec2) fixed.Vec2 {
	by = fixed.Vec2{X: limited(by.X), Y: limited(by.Y)}
	if g == nil {
		return fixed.Vec2{X: plus(at.X, by.X), Y: plus(at.Y, by.Y)}
	}
	half = fixed.Vec2{X: max(extent(half.X), 1), Y: max(extent(half.Y), 1)}
	steps := min(int64(max(magnitude(by.X), magnitude(by.Y)))>>31+1, 64)
	done := fixed.Vec2{}
	for k := int64(1); k <= steps; k++ {
		next := fixed.Vec2{X: fixed.Q(int64(by.X) / steps * k), Y: fixed.Q(int64(by.Y) / steps * k)}
		if k == steps {
			next = by
		}
		at.X = leg(g, at.X, at.Y, half.X, half.Y, next.X-done.X, false)
		at.Y = leg(g, at.Y, at.X, half.Y, half.X, next.Y-done.Y, true)
		done = next
	}
	return at
}

// leg moves a box along one axis. across is its place on the other.
func leg(g *grid.Ground, at, across, half, halfAcross, by fixed.Q, vertical bool) fixed.Q {
	low, high := int64(minus(across, halfAcross))>>32, last(plus(across, halfAcross))
	switch {
	case by > 0:
		for c, end := last(plus(at, half))+1, last(plus(plus(at, by), half)); c <= end; c++ {
			if closed(g, c, low, high, vertical) {
				return max(at, minus(fixed.Q(c<<32), half))
			}
		}
	case by < 0:
		for c, end := int64(minus(at, half))>>32-1, int64(minus(plus(at, by), half))>>32; c >= end; c-- {
			if closed(g, c, low, high, vertical) {
				return min(at, plus(fixed.Q((c+1)<<32), half))
			}
		}
	}
	return plus(at, by)
}

// last returns the last cell of a box that ends at x.
func last(x fixed.Q) int64 { return (int64(x) - 1) >> 32 }

// closed reports whether one of the cells low..high of column c, or of row c if it moves vertically, is not open.
func closed(g *grid.Ground, c, low, high int64, vertical bool) bool {
	s := g.Shape()
	along, acrossEnd := int64(s.Columns), int64(s.Rows)
	if vertical {
		along, acrossEnd = acrossEnd, along
	}
	if c < 0 || c >= along || low < 0 || high >= acrossEnd {
		return true
	}
	for k := low; k <= high; k++ {
		x, y := c, k
		if vertical {
			x, y = k, c
		}
		if !g.Open(grid.Cell(y*int64(s.Columns) + x)) {
			return true
		}
	}
	return false
}

// MaxExtent limits the size of bodies and ways, about 268 million cells. Greater ones count as MaxExtent, negative sizes as 0.
const MaxExtent fixed.Q = 1 << 60

func extent(x fixed.Q) fixed.Q  { return min(max(x, 0), MaxExtent) }
func limited(x fixed.Q) fixed.Q { return min(max(x, -MaxExtent), MaxExtent) }

// magnitude returns |x| of a limited number.
func magnitude(x fixed.Q) fixed.Q { return max(x, -x) }
