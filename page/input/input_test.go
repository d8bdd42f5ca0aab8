package input_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
)

type world struct{ Units []input.Unit }

func at(x, y int64) fixed.Vec2 { return fixed.Vec2{X: fixed.FromInt(x), Y: fixed.FromInt(y)} }

// handler answers every event with its words.
var handler = input.Handler[world]{
	Units: func(w *world) []input.Unit { return w.Units },
	Act: func(_ *world, e *input.Event) []any {
		over := "nothing"
		if e.Unit != nil {
			over = fmt.Sprint("unit ", e.Unit.ID)
		}
		return []any{fmt.Sprintf("action %d of %v at %v from %v over %s %s", e.Action, e.IDs(), e.At, e.From, over, strings.Join(e.Held, "+")+e.Key)}
	},
	Hover: func(_ *world, e *input.Event, c *canvas.Canvas) string {
		return fmt.Sprintf("%d %v", e.Action, e.IDs())
	},
	Keys: []string{"KeyS"},
}

func example() *world {
	return &world{[]input.Unit{
		{ID: 1, Owner: 0, Kind: "tank", At: at(0, 0), Radius: fixed.One},
		{ID: 2, Owner: 0, Kind: "tank", At: at(10, 0), Radius: fixed.One},
		{ID: 3, Owner: 0, Kind: "scout", At: at(20, 0), Radius: fixed.One},
		{ID: 4, Owner: 1, Kind: "tank", At: at(30, 0), Radius: fixed.One},
	}}
}

func ExampleScript() {
	w := example()
	s := input.NewScript(handler, w, 0)
	s.Box(at(-5, -5), at(15, 5))
	fmt.Println(s.Order(at(30, 0))...)
	// Output: action 2 of [1 2] at {30 0} from {0 0} over unit 4
}

// A window of a game's own tells a controller what its mouse does, and draws what the controller draws.
func ExampleController() {
	var unit input.Unit = input.Unit{ID: 7, Owner: 0, At: at(3, 4), Radius: fixed.One}
	h := input.Handler[int]{
		Units: func(*int) []input.Unit { return []input.Unit{unit} },
		Act: func(_ *int, e *input.Event) []any {
			var done input.Action = e.Action
			return []any{done == input.Click, len(e.Selected)}
		},
	}
	var c *input.Controller = input.New(h)
	state, in := 0, input.Raw{Sort: input.Pressed, At: at(3, 4), Pixel: input.Length(0.05)}
	c.Take(&state, 0, in)
	in.Sort = input.Released
	fmt.Println(c.Take(&state, 0, in)...)
	// Output: true 1
}

// A length of a screen becomes one of the picture, whatever it is.
func TestLength(t *testing.T) {
	for v, want := range map[float64]fixed.Q{0.5: fixed.Half, -3: fixed.FromInt(-3), math.Inf(1): 1<<63 - 1024, math.Inf(-1): math.MinInt64, 1e300: 1<<63 - 1024} {
		if got := input.Length(v); got != want {
			t.Errorf("%v: got %v, want %v", v, got, want)
		}
	}
	if got := input.Length(math.NaN()); got != 0 {
		t.Errorf("got %v", got)
	}
}

// A selection has only the player's own units, and follows the mouse and Shift.
func TestSelection(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(s *input.Script[world])
		want []uint64
	}{
		{"a click", func(s *input.Script[world]) { s.Click(at(10, 1)) }, []uint64{2}},
		{"a click beside", func(s *input.Script[world]) { s.Click(at(10, 0)); s.Click(at(10, 2)) }, nil},
		{"another's unit", func(s *input.Script[world]) { s.Click(at(30, 0)) }, nil},
		{"a box in any direction", func(s *input.Script[world]) { s.Box(at(35, 5), at(5, -5)) }, []uint64{2, 3}},
		{"a double click", func(s *input.Script[world]) { s.DoubleClick(at(0, 0)) }, []uint64{1, 2}},
		{"two slow clicks", func(s *input.Script[world]) { s.Click(at(0, 0)); s.Click(at(0, 0)) }, []uint64{1}},
		{"Shift", func(s *input.Script[world]) { s.Click(at(20, 0)); s.Shift = true; s.Click(at(0, 0)) }, []uint64{1, 3}},
		{"no Shift", func(s *input.Script[world]) { s.Click(at(20, 0)); s.Click(at(0, 0)) }, []uint64{1}},
		{"a unit that is gone", func(s *input.Script[world]) { s.Box(at(-5, -5), at(15, 5)); s.World.Units = s.World.Units[1:] }, []uint64{2}},
	} {
		s := input.NewScript(handler, example(), 0)
		row.do(s)
		var got []uint64
		for _, u := range s.Selected() {
			got = append(got, u.ID)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

// A key that is held counts once, and a handler gets only its own keys.
func TestKeys(t *testing.T) {
	s := input.NewScript(handler, example(), 0)
	for i, row := range []struct {
		got  []any
		want int
	}{{s.Press("KeyS"), 1}, {s.Press("KeyS"), 0}, {s.Press("KeyX"), 0}, {s.Release("KeyS"), 1}, {s.Release("KeyS"), 0}} {
		if len(row.got) != row.want {
			t.Errorf("step %d: got %v, want %d", i, row.got, row.want)
		}
	}
}

// A spectator gives no commands.
func TestSpectator(t *testing.T) {
	s := input.NewScript(handler, example(), -1)
	s.Click(at(0, 0))
	if got := append(s.Order(at(3, 3)), s.Press("KeyS")...); len(got) != 0 || len(s.Selected()) != 0 {
		t.Errorf("got %v of %v", got, s.Selected())
	}
}

// A hand shakes: a press that moves a few pixels is a click, and farther it is a drag. A finger's tap orders.
func TestPixels(t *testing.T) {
	c, w := input.New(handler), example()
	take := func(in input.Raw) []any {
		in.Pixel = fixed.One
		return c.Take(w, 0, in)
	}
	press := func(button int, from, to fixed.Vec2, touch bool) []any {
		take(input.Raw{Sort: input.Pressed, Button: button, At: from, Touch: touch})
		take(input.Raw{Sort: input.Moved, At: to})
		return take(input.Raw{Sort: input.Released, Button: button, At: to, Touch: touch})
	}
	for _, row := range []struct {
		got  []any
		want string
	}{
		{press(2, at(50, 0), at(56, 0), false), "[action 2 of [] at {56 0} from {0 0} over nothing ]"},
		{press(2, at(50, 0), at(57, 0), false), "[action 3 of [] at {57 0} from {50 0} over nothing ]"},
		{press(0, at(22, 0), at(22, 0), true), "[action 1 of [3] at {22 0} from {0 0} over unit 3 ]"},
		{press(0, at(80, 0), at(80, 0), true), "[action 2 of [3] at {80 0} from {0 0} over nothing ]"},
		{press(1, at(80, 0), at(80, 0), false), "[]"},
		{press(-1, at(80, 0), at(80, 0), false), "[]"},
		{take(input.Raw{Sort: input.KeyDown, Key: "KeyS"}), "[action 4 of [3] at {80 0} from {0 0} over nothing KeySKeyS]"},
		{c.Blur(w, 0), "[action 5 of [3] at {80 0} from {0 0} over nothing KeyS]"},
		{c.Blur(w, 0), "[]"},
	} {
		if fmt.Sprint(row.got) != row.want {
			t.Errorf("got %v, want %s", row.got, row.want)
		}
	}
}

// The overlay has the selection, the box and the handler's text while the pointer is over the picture.
func TestDraw(t *testing.T) {
	c, w := input.New(handler), example()
	draw := func() string {
		var on canvas.Canvas
		on.Reset(0)
		text, cursor := c.Draw(w, 0, &on)
		return fmt.Sprintf("%s|%s|%d", text, cursor, len(on.AppendWords(nil))/8)
	}
	steps := []struct {
		in   input.Raw
		want string
	}{
		{input.Raw{Sort: input.Left}, "||0"},
		{input.Raw{Sort: input.Moved, At: at(0, 0)}, "0 []|pointer|6"},
		{input.Raw{Sort: input.Pressed, At: at(-5, -5)}, "0 []||0"},
		{input.Raw{Sort: input.Moved, At: at(15, 5)}, "0 []||28"},
		{input.Raw{Sort: input.Released, At: at(15, 5)}, "0 [1 2]|crosshair|12"},
		{input.Raw{Sort: input.Pressed, Button: 2, At: at(15, 5)}, "0 [1 2]|crosshair|12"},
		{input.Raw{Sort: input.Moved, At: at(16, 9)}, "3 [1 2]|crosshair|12"},
		{input.Raw{Sort: input.Left}, "||12"},
	}
	for i, step := range steps {
		c.Take(w, 0, step.in)
		if got := draw(); got != step.want {
			t.Errorf("step %d: got %s, want %s", i, got, step.want)
		}
	}
	if c.Reset(); draw() != "||0" || len(c.Keys()) != 1 {
		t.Error("a reset controller still has a selection, or has lost its keys")
	}
}
