package platforms_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
)

// A script of keys: the last arrow that is held decides, and a unit without one stands still.
func TestInput(t *testing.T) {
	w := &platforms.World{Players: 2, Units: make([]platforms.Unit, 2)}
	var last uint64
	s := input.NewScript(platforms.NewInput(), w, 1)
	for i, row := range []struct {
		got  []any
		want string
	}{
		{s.Press("ArrowRight"), "walk 1"},
		{s.Press("ArrowLeft"), "walk -1"},
		{s.Release("ArrowLeft"), "walk 1"},
		{s.Press("ArrowUp"), "jump"},
		{s.Release("ArrowUp"), ""},
		{s.Click(fixed.Vec2{}), ""},
		{s.Release("ArrowRight"), "walk 0"},
	} {
		var said string
		var number uint64
		for _, c := range row.got {
			switch c := c.(type) {
			case *platforms.Move:
				said, number = fmt.Sprint("walk ", c.X), c.Number
			case *platforms.Jump:
				said, number = "jump", c.Number
			}
		}
		if said != row.want {
			t.Errorf("step %d: got %q, want %q", i, said, row.want)
		}
		if said != "" && number <= last {
			t.Errorf("step %d: got number %d after %d", i, number, last)
		}
		last = max(last, number)
	}
}

// The picture has the floor, two platforms, the teleport, and a box for each unit.
func TestDraw(t *testing.T) {
	var c canvas.Canvas
	platforms.Draw(&c, &platforms.World{Units: make([]platforms.Unit, 3)})
	const words = 6 // of a rectangle
	if got, want := len(c.AppendWords(nil))/8, (4+3)*words; got != want || c.Cut() {
		t.Errorf("got %d numbers, want %d", got, want)
	}
}
