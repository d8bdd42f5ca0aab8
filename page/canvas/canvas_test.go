package canvas_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/page/canvas"
)

// numbers returns the numbers of a picture.
func numbers(c *canvas.Canvas) (all []float64) {
	b := c.AppendWords(nil)
	for at := 0; at < len(b); at += 8 {
		all = append(all, math.Float64frombits(binary.LittleEndian.Uint64(b[at:])))
	}
	return all
}

func ExampleCanvas() {
	const sand canvas.Colour = 0xe0d0a0ff
	var c canvas.Canvas
	c.Reset(-1)
	c.Circle(fixed.Vec2{X: fixed.FromInt(3), Y: -fixed.Half}, fixed.One, sand)
	c.Text(fixed.Vec2{}, fixed.Half, "oasis", canvas.PlayerColour(0))
	fmt.Println(numbers(&c), c.Texts(), c.Seat(), c.Cut())
	// Output: [2 3.771769087e+09 3 -0.5 1 6 1.032584703e+09 0 0 0.5 0] [oasis] -1 false
}

// Each shape has as many numbers as the page reads.
func TestShapes(t *testing.T) {
	var c canvas.Canvas
	a, b := fixed.Vec2{X: fixed.One}, fixed.Vec2{Y: fixed.FromInt(2)}
	for _, row := range []struct {
		draw func()
		want string
	}{
		{func() { c.Line(a, b, fixed.Half, 7) }, "[1 7 1 0 0 2 0.5]"},
		{func() { c.Circle(b, fixed.Half, 7) }, "[2 7 0 2 0.5]"},
		{func() { c.Ring(b, fixed.One, fixed.Half, 7) }, "[3 7 0 2 1 0.5]"},
		{func() { c.Rect(a, b, 7) }, "[4 7 1 0 0 2]"},
		{func() { c.Polygon(7, a, b, a) }, "[5 7 3 1 0 0 2 1 0]"},
		{func() { c.Polygon(7) }, "[5 7 0]"},
		{func() { c.Text(a, fixed.One, "x", 7) }, "[6 7 1 0 1 0]"},
	} {
		c.Reset(3)
		if row.draw(); fmt.Sprint(numbers(&c)) != row.want || c.Seat() != 3 || c.Cut() {
			t.Errorf("got %v for seat %d, want %s", numbers(&c), c.Seat(), row.want)
		}
	}
}

// A picture stays bounded, and says that it was cut.
func TestLimits(t *testing.T) {
	for _, row := range []struct {
		name string
		draw func(c *canvas.Canvas)
	}{
		{"shapes", func(c *canvas.Canvas) {
			for range canvas.MaxWords {
				c.Circle(fixed.Vec2{}, 1, 2)
			}
		}},
		{"corners", func(c *canvas.Canvas) { c.Polygon(1, make([]fixed.Vec2, canvas.MaxWords)...) }},
		{"texts", func(c *canvas.Canvas) {
			for range canvas.MaxTexts + 1 {
				c.Text(fixed.Vec2{}, 1, "x", 2)
			}
		}},
		{"letters", func(c *canvas.Canvas) { c.Text(fixed.Vec2{}, 1, strings.Repeat("x", canvas.MaxTextBytes+1), 2) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			var c canvas.Canvas
			row.draw(&c)
			if !c.Cut() || len(c.AppendWords(nil)) > 8*canvas.MaxWords || len(c.Texts()) > canvas.MaxTexts {
				t.Errorf("cut %v: %d bytes, %d texts", c.Cut(), len(c.AppendWords(nil)), len(c.Texts()))
			}
			if c.Reset(0); c.Cut() || len(c.AppendWords(nil)) != 0 || len(c.Texts()) != 0 {
				t.Error("a reset canvas is not empty")
			}
		})
	}
	if canvas.PlayerColour(-5) == canvas.PlayerColour(0) || canvas.PlayerColour(16) != canvas.PlayerColour(0) {
		t.Error("the colours of players are wrong")
	}
}
