package play

import (
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
)

// The limits of the zoom, in 1/256 of a pixel for a cell.
const (
	NearestZoom  = 72 << 8
	FarthestZoom = 4 << 8
	startZoom    = 26 << 8
)

// startCells is the height of the map that a screen shows at first, at most, unless startZoom shows less.
const startCells = 45

// A Camera looks straight down at a part of the map.
type Camera struct {
	X, Y          int64 // of the middle of the screen, in 1/1024 of a cell
	Zoom          int64 // 1/256 of a pixel for a cell
	Width, Height int64 // of the screen, pixels
	Size          int64 // cells along a side of the map

	// Above and Below are the covered pixels of the screen. The camera scrolls further by them.
	Above, Below int64
}

// Resize sets the size of the screen.
func (c *Camera) Resize(width, height int64) {
	c.Width, c.Height = max(width, 1), max(height, 1)
	c.bound()
}

// Pan moves the camera by pixels of the screen.
func (c *Camera) Pan(dx, dy int64) {
	c.X, c.Y = c.X+c.cells(dx), c.Y+c.cells(dy)
	c.bound()
}

// ZoomBy multiplies the zoom by thousandths/1000. The place under the pixel stays there.
func (c *Camera) ZoomBy(thousandths, x, y int64) {
	ax, ay := c.at(x, y)
	c.Zoom = min(max(c.Zoom*thousandths/1000, max(FarthestZoom, c.whole())), NearestZoom)
	bx, by := c.at(x, y)
	c.X, c.Y = c.X+ax-bx, c.Y+ay-by
	c.bound()
}

// LookAt moves the camera so that a place is in the middle of the map's visible part.
func (c *Camera) LookAt(at fixed.Vec2) {
	c.X, c.Y = int64(at.X)>>(32-scene.PlaceBits), int64(at.Y)>>(32-scene.PlaceBits)+c.cells((c.Below-c.Above)/2)
	c.bound()
}

// whole returns the zoom that shows the whole map.
func (c *Camera) whole() int64 {
	if c.Size == 0 {
		return FarthestZoom
	}
	return min(min(c.Width, max(c.Height-c.Above-c.Below, 1))<<8/(c.Size+2), NearestZoom)
}

// bound keeps the screen on the map and one cell around it. It centers a map that is smaller than the screen.
func (c *Camera) bound() {
	if c.Size == 0 {
		return
	}
	const beside = 1 << scene.PlaceBits
	limit := func(v, pixels, before, after int64) int64 {
		low := c.cells(pixels/2-before) - beside
		high := c.Size<<scene.PlaceBits - c.cells(pixels/2-after) + beside
		if low >= high {
			return (low + high) / 2
		}
		return min(max(v, low), high)
	}
	c.X, c.Y = limit(c.X, c.Width, 0, 0), limit(c.Y, c.Height, c.Above, c.Below)
}

// cells returns a number of pixels in 1/1024 of a cell.
func (c *Camera) cells(pixels int64) int64 { return pixels << (8 + scene.PlaceBits) / max(c.Zoom, 1) }

// at returns the place under a pixel, in 1/1024 of a cell.
func (c *Camera) at(x, y int64) (int64, int64) {
	return c.X + c.cells(x-c.Width/2), c.Y + c.cells(y-c.Height/2)
}

// Place returns the place of the map under a pixel.
func (c *Camera) Place(x, y int64) fixed.Vec2 {
	px, py := c.at(x, y)
	limit := max(c.Size<<scene.PlaceBits-1, 0)
	return fixed.Vec2{
		X: fixed.Q(min(max(px, 0), limit)) << (32 - scene.PlaceBits),
		Y: fixed.Q(min(max(py, 0), limit)) << (32 - scene.PlaceBits),
	}
}

// Pixel returns the pixel of a place; it may lie outside of the screen.
func (c *Camera) Pixel(at fixed.Vec2) (x, y int64) {
	pixels := func(q fixed.Q, middle int64) int64 {
		return (int64(q)>>(32-scene.PlaceBits) - middle) * c.Zoom >> (8 + scene.PlaceBits)
	}
	return pixels(at.X, c.X) + c.Width/2, pixels(at.Y, c.Y) + c.Height/2
}

// View returns the view of the camera.
func (c *Camera) View() scene.View {
	left, top := c.at(0, 0)
	right, bottom := c.at(c.Width, c.Height)
	return scene.View{
		Left: int32(left), Top: int32(top), Right: int32(right), Bottom: int32(bottom),
		MiddleX: int32(c.X), MiddleY: int32(c.Y), Zoom: int32(c.Zoom),
	}
}
