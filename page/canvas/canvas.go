// Package canvas is a picture that a game draws of its state, for the page of [tool.Draw]. The unit of places and lengths is
// the game's own: the page fits the picture to the screen, and its user zooms and moves it.
//
//	func Draw(c *canvas.Canvas, w *World) {
//		c.Rect(fixed.Vec2{}, fixed.Vec2{X: w.Side, Y: w.Side}, 0x24402dff)
//		for i := range w.Units {
//			u := &w.Units[i]
//			c.Circle(u.Pos, fixed.Half, canvas.PlayerColour(int(u.Owner)))
//		}
//	}
//
// Later shapes cover earlier ones. The x axis points right, and the y axis down. The drawing function must not change the
// state.
//
// [tool.Draw]: https://pkg.go.dev/github.com/seed-49bee653/samestep/cmd/samestep/tool#Draw
package canvas

import (
	"encoding/binary"
	"math"

	"github.com/seed-49bee653/samestep/fixed"
)

// A Colour is red, green, blue and opacity, 8 bits each: 0xff8000ff is an opaque orange.
type Colour uint32

// Limits of a picture. Everything beyond them is left out.
const (
	MaxWords     = 1 << 20 // numbers of all shapes: a circle has 5, and a polygon 3 and 2 for each corner
	MaxTexts     = 4096
	MaxTextBytes = 256 // of one text; the rest of it is cut off
)

// The operations of a picture, each followed by its colour and its numbers:
// a line has x, y, x, y and width; a circle x, y and radius; a ring x, y, radius and width; a rectangle x, y, x and y;
// a polygon the number of corners, and x and y of each; a text x, y, height and the text's index.
const (
	opLine float64 = iota + 1
	opCircle
	opRing
	opRect
	opPolygon
	opText
)

// A Canvas is a picture in the making. The zero value is empty.
type Canvas struct {
	seat  int // of the viewer and 1; 0 for none
	words []float64
	texts []string
	cut   bool
}

// Reset empties the canvas for a viewer in a seat, or for a spectator if it is negative.
func (c *Canvas) Reset(seat int) {
	*c = Canvas{seat: max(seat, -1) + 1, words: c.words[:0], texts: c.texts[:0]}
}

// Seat returns the viewer's seat, or -1 for a spectator and in a replay. A game may hide from a player what the player must not see.
func (c *Canvas) Seat() int { return c.seat - 1 }

// Cut reports whether the picture has exceeded a limit.
func (c *Canvas) Cut() bool { return c.cut }

// Texts returns the texts of the picture.
func (c *Canvas) Texts() []string { return c.texts }

// AppendWords appends the picture's numbers to dst, each as a little-endian float64.
func (c *Canvas) AppendWords(dst []byte) []byte {
	for _, w := range c.words {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(w))
	}
	return dst
}

// Line draws a line.
func (c *Canvas) Line(from, to fixed.Vec2, width fixed.Q, colour Colour) {
	c.add(opLine, colour, number(from.X), number(from.Y), number(to.X), number(to.Y), number(width))
}

// Circle draws a filled circle.
func (c *Canvas) Circle(centre fixed.Vec2, radius fixed.Q, colour Colour) {
	c.add(opCircle, colour, number(centre.X), number(centre.Y), number(radius))
}

// Ring draws the outline of a circle.
func (c *Canvas) Ring(centre fixed.Vec2, radius, width fixed.Q, colour Colour) {
	c.add(opRing, colour, number(centre.X), number(centre.Y), number(radius), number(width))
}

// Rect draws a filled rectangle between two corners.
func (c *Canvas) Rect(a, b fixed.Vec2, colour Colour) {
	c.add(opRect, colour, number(a.X), number(a.Y), number(b.X), number(b.Y))
}

// Polygon draws a filled polygon.
func (c *Canvas) Polygon(colour Colour, corners ...fixed.Vec2) {
	if !c.room(3 + 2*len(corners)) {
		return
	}
	c.words = append(c.words, opPolygon, float64(colour), float64(len(corners)))
	for _, p := range corners {
		c.words = append(c.words, number(p.X), number(p.Y))
	}
}

// Text writes one line with its middle at a place. The height is that of the letters.
func (c *Canvas) Text(middle fixed.Vec2, height fixed.Q, text string, colour Colour) {
	if len(c.texts) == MaxTexts {
		c.cut = true
		return
	}
	if len(text) > MaxTextBytes {
		text, c.cut = text[:MaxTextBytes], true
	}
	if c.add(opText, colour, number(middle.X), number(middle.Y), number(height), float64(len(c.texts))) {
		c.texts = append(c.texts, text)
	}
}

func (c *Canvas) add(op float64, colour Colour, numbers ...float64) bool {
	if !c.room(2 + len(numbers)) {
		return false
	}
	c.words = append(append(c.words, op, float64(colour)), numbers...)
	return true
}

func (c *Canvas) room(words int) bool {
	if len(c.words)+words > MaxWords {
		c.cut = true
		return false
	}
	return true
}

func number(q fixed.Q) float64 { return math.Ldexp(float64(q), -32) }

// players are the colours of seats, which also differ in lightness.
var players = [...]Colour{
	0x3d8bfdff, 0xf0483eff, 0xf5b921ff, 0x3fbf5aff, 0xa566f2ff, 0x27c4c9ff, 0xff8a34ff, 0xff6fb1ff,
	0xa6d92bff, 0x5668c9ff, 0xa9714bff, 0xe6e9eeff, 0x1f9d84ff, 0xd1495bff, 0x8f8f2fff, 0x8793a3ff,
}

// PlayerColour returns the colour in which the page shows a player, or gray for a negative number.
func PlayerColour(player int) Colour {
	if player < 0 {
		return 0x9aa4b0ff
	}
	return players[player%len(players)]
}
