package grid

import "github.com/seed-49bee653/samestep/fixed"

// Sees reports whether no blocked cell is on the straight line between two positions. It is exact, and the same in both
// directions. A line through the corner of cells needs all four of them open. Nothing outside of the map is open.
func (g *Ground) Sees(a, b fixed.Vec2) bool {
	if !g.Free(a) || !g.Free(b) {
		return false
	}
	x, y, toX, toY := whole(a.X), whole(a.Y), whole(b.X), whole(b.Y)
	right, up := int32(1), int32(1)
	if toX < x {
		right = -1
	}
	if toY < y {
		up = -1
	}
	for x != toX || y != toY {
		switch {
		case y == toY:
			x += right
		case x == toX:
			y += up
		default:
			switch side := corner(a, b, x, y, right, up); {
			case side > 0:
				x += right
			case side < 0:
				y += up
			default: // exactly through it
				if !g.openAt(x+right, y) || !g.openAt(x, y+up) {
					return false
				}
				x, y = x+right, y+up
			}
		}
		if !g.openAt(x, y) {
			return false
		}
	}
	return true
}

// corner tells where the line from a to b leaves cell (x, y): 1 through the side towards right, -1 through the side towards
// up, 0 through the corner between them.
func corner(a, b fixed.Vec2, x, y, right, up int32) int {
	at := fixed.Vec2{X: fixed.Q(x+(right+1)/2) << 32, Y: fixed.Q(y+(up+1)/2) << 32}
	return fixed.Orient2D(a, b, at) * int(right*up)
}

func (g *Ground) openAt(x, y int32) bool {
	return g.shape.Contains(x, y) && g.open[uint32(y)*uint32(g.shape.Columns)+uint32(x)]
}
