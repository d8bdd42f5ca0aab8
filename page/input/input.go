// Package input turns clicks and keys on the picture of a game into commands: [tool.Input]. It needs no browser, so a page, a window of
// the game's own and a test use the same handler.
//
//	var Mouse = input.Handler[World]{
//		Units: func(w *World) (all []input.Unit) {…},
//		Act: func(w *World, e *input.Event) []any {
//			if e.Action != input.Order || len(e.Selected) == 0 {
//				return nil
//			}
//			return []any{&Move{Units: e.IDs(), To: e.At}}
//		},
//	}
//
// A click selects the player's unit there, a box those in it, and a double click those of the kind; with Shift, they join the
// selection. The handler gets everything else.
//
// [tool.Input]: https://pkg.go.dev/github.com/seed-49bee653/samestep/cmd/samestep/tool#Input
package input

import (
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/page/canvas"
)

// A Unit is something on the map that a player can point at. Only its owner can select it.
type Unit struct {
	ID     uint64 // its own among all units
	Owner  int    // a seat, or negative for nobody
	Kind   string // a double click selects all of a kind
	At     fixed.Vec2
	Radius fixed.Q
}

// An Action is what the player has done.
type Action uint8

// The actions of a player. A finger that taps the player's own unit clicks, and elsewhere it orders if something is selected.
const (
	Point   Action = iota // nothing: the pointer is at a place
	Click                 // the left button, after it has selected
	Order                 // the right button
	Drag                  // the right button, moved to another place
	Press                 // a key of the handler; a key that is held counts once
	Release               // of such a key
)

// An Event is an action of the player, at a place of the picture.
type Event struct {
	Action   Action
	Seat     int // the player's
	At       fixed.Vec2
	From     fixed.Vec2 // where a Drag began
	Key      string     // as KeyboardEvent.code, such as "KeyS" or "ArrowLeft"
	Shift    bool
	Held     []string // the keys of the handler that are held, in the order in which they were pressed
	Unit     *Unit    // under the pointer, or nil
	Selected []Unit   // in the order of [Handler.Units]

	all []Unit
}

// IDs returns the IDs of the selected units.
func (e *Event) IDs() (all []uint64) {
	for i := range e.Selected {
		all = append(all, e.Selected[i].ID)
	}
	return all
}

// A Handler is the game's part. Its functions must not change the state, and each may be nil.
type Handler[S any] struct {
	// Units returns everything that can be pointed at. Later units cover earlier ones.
	Units func(w *S) []Unit

	// Act returns commands, as pointers to their registered types. It is not asked for a spectator.
	Act func(w *S, e *Event) []any

	// Hover returns a text for the place under the pointer, and may draw a preview over the picture.
	Hover func(w *S, e *Event, c *canvas.Canvas) string

	// Keys are those that Act gets. The page keeps all others, and gives up its own meaning of these.
	Keys []string
}

// Sorts of raw input.
const (
	Moved = iota
	Pressed
	Released
	KeyDown
	KeyUp
	Left // the pointer is elsewhere, and nothing is pressed any more
)

// A Raw input is one of a device.
type Raw struct {
	Sort   int
	Button int // 0 is the left one, 2 the right one
	At     fixed.Vec2
	Pixel  fixed.Q // the length of a pixel in the picture
	Millis int64   // by any clock
	Key    string
	Shift  bool
	Touch  bool // a tap of a finger, as Pressed and Released
}

const (
	dragPixels   = 6 // a press that moves farther is a drag
	nearPixels   = 5 // beside a unit still hits it
	doubleMillis = 400
)

// A Controller has the selection, and what is pressed, of one player.
type Controller struct {
	units func(world any) []Unit
	act   func(world any, e *Event) []any
	hover func(world any, e *Event, c *canvas.Canvas) string
	keys  []string

	selected []uint64
	held     []string
	at       fixed.Vec2
	over     bool // the picture
	pixel    fixed.Q
	down     [3]press
	clicked  press
	of       uint64 // the unit of clicked
}

type press struct {
	is, moved bool
	at        fixed.Vec2
	millis    int64
}

// New returns the controller of a handler.
func New[S any](h Handler[S]) *Controller {
	c := &Controller{keys: h.Keys}
	if h.Units != nil {
		c.units = func(w any) []Unit { return h.Units(w.(*S)) }
	}
	if h.Act != nil {
		c.act = func(w any, e *Event) []any { return h.Act(w.(*S), e) }
	}
	if h.Hover != nil {
		c.hover = func(w any, e *Event, on *canvas.Canvas) string { return h.Hover(w.(*S), e, on) }
	}
	return c
}

// Keys returns the keys of the handler.
func (c *Controller) Keys() []string { return append([]string{}, c.keys...) }

// Reset forgets the selection and what is pressed, for another match.
func (c *Controller) Reset() {
	*c = Controller{units: c.units, act: c.act, hover: c.hover, keys: c.keys}
}

// Take takes an input of the player in a seat, or of a spectator if it is negative, and returns commands. world is a pointer to the state.
func (c *Controller) Take(world any, seat int, in Raw) []any {
	if in.Sort != KeyDown && in.Sort != KeyUp {
		c.pixel, c.over = in.Pixel, in.Sort != Left
		if c.over {
			c.at = in.At
		}
	}
	e := c.event(world, seat)
	e.Shift = in.Shift
	switch in.Sort {
	case Moved:
		for i := range c.down {
			d := &c.down[i]
			d.moved = d.moved || d.is && !d.at.InRange(c.at, c.pixels(dragPixels))
		}
	case Pressed:
		if in.Button >= 0 && in.Button < len(c.down) {
			c.down[in.Button] = press{is: true, at: c.at, millis: in.Millis}
		}
	case Released:
		return c.released(world, e, in)
	case KeyDown:
		if slices.Contains(c.keys, in.Key) && !slices.Contains(c.held, in.Key) {
			c.held = append(c.held, in.Key)
			e.Action, e.Key = Press, in.Key
			return c.ask(world, e)
		}
	case KeyUp:
		return c.up(world, e, in.Key)
	case Left:
		c.down = [3]press{}
	}
	return nil
}

// Blur releases all keys: the player looks elsewhere.
func (c *Controller) Blur(world any, seat int) (commands []any) {
	for len(c.held) > 0 {
		commands = append(commands, c.up(world, c.event(world, seat), c.held[0])...)
	}
	return commands
}

func (c *Controller) up(world any, e *Event, key string) []any {
	i := slices.Index(c.held, key)
	if i < 0 {
		return nil
	}
	c.held = slices.Delete(c.held, i, i+1)
	e.Action, e.Key = Release, key
	return c.ask(world, e)
}

func (c *Controller) released(world any, e *Event, in Raw) []any {
	if in.Button < 0 || in.Button >= len(c.down) || !c.down[in.Button].is {
		return nil
	}
	d := c.down[in.Button]
	d.moved = d.moved || !d.at.InRange(c.at, c.pixels(dragPixels))
	c.down[in.Button] = press{}
	own := e.Unit != nil && e.Unit.Owner == e.Seat
	switch {
	case in.Button == 2 && d.moved:
		e.Action, e.From = Drag, d.at
	case in.Button == 2, in.Touch && !own && len(e.Selected) > 0:
		e.Action = Order
	case in.Button != 0:
		return nil
	case d.moved:
		c.sel(e, in.Shift, func(u *Unit) bool { return within(u.At, d.at, c.at) })
		return nil
	default:
		c.click(e, in, own)
		e.Action, e.Selected = Click, c.chosen(e.all)
	}
	return c.ask(world, e)
}

func (c *Controller) click(e *Event, in Raw, own bool) {
	double := own && c.clicked.is && c.of == e.Unit.ID && in.Millis-c.clicked.millis <= doubleMillis
	c.clicked = press{is: own, millis: in.Millis}
	if own {
		c.of = e.Unit.ID
	}
	c.sel(e, in.Shift, func(u *Unit) bool { return own && (u.ID == e.Unit.ID || double && u.Kind == e.Unit.Kind) })
}

// sel selects the player's own units of some, or adds them.
func (c *Controller) sel(e *Event, add bool, is func(u *Unit) bool) {
	if !add {
		c.selected = c.selected[:0]
	}
	for i := range e.all {
		if u := &e.all[i]; u.Owner == e.Seat && is(u) && !slices.Contains(c.selected, u.ID) {
			c.selected = append(c.selected, u.ID)
		}
	}
}

func (c *Controller) ask(world any, e *Event) []any {
	if c.act == nil || e.Seat < 0 {
		return nil
	}
	e.Held = slices.Clone(c.held)
	return c.act(world, e)
}

// event returns what is true of all events now.
func (c *Controller) event(world any, seat int) *Event {
	e := &Event{Seat: seat, At: c.at}
	if c.units != nil {
		e.all = c.units(world)
	}
	for i := range e.all {
		u := &e.all[i]
		if c.over && u.At.InRange(c.at, u.Radius.Add(c.pixels(nearPixels))) && (e.Unit == nil || c.at.CompareDistance(u.At, e.Unit.At) <= 0) {
			e.Unit = u
		}
	}
	e.Selected = c.chosen(e.all)
	return e
}

// chosen returns the selected ones of all units.
func (c *Controller) chosen(all []Unit) (chosen []Unit) {
	for _, u := range all {
		if slices.Contains(c.selected, u.ID) {
			chosen = append(chosen, u)
		}
	}
	return chosen
}

func (c *Controller) pixels(n int64) fixed.Q { return c.pixel.Mul(fixed.FromInt(n)) }

func within(at, a, b fixed.Vec2) bool {
	return min(a.X, b.X) <= at.X && at.X <= max(a.X, b.X) && min(a.Y, b.Y) <= at.Y && at.Y <= max(a.Y, b.Y)
}

// Draw draws the selection, the box, and the handler's preview. It returns the handler's text, and a name of a cursor as in CSS.
func (c *Controller) Draw(world any, seat int, on *canvas.Canvas) (text, cursor string) {
	const white, faint canvas.Colour = 0xffffffff, 0xffffff99
	e := c.event(world, seat)
	for i := range e.Selected {
		u := &e.Selected[i]
		on.Ring(u.At, u.Radius.Add(c.pixels(3)), c.pixels(2), white)
	}
	if d := c.down[0]; d.is && d.moved {
		b, d := fixed.Vec2{X: c.at.X, Y: d.at.Y}, fixed.Vec2{X: d.at.X, Y: c.at.Y}
		from := fixed.Vec2{X: d.X, Y: b.Y}
		for _, side := range [][2]fixed.Vec2{{from, b}, {b, c.at}, {c.at, d}, {d, from}} {
			on.Line(side[0], side[1], c.pixels(1), white)
		}
	}
	if !c.over {
		return "", ""
	}
	switch {
	case e.Unit != nil && e.Unit.Owner == seat:
		cursor = "pointer"
	case len(e.Selected) > 0:
		cursor = "crosshair"
	}
	if e.Unit != nil {
		on.Ring(e.Unit.At, e.Unit.Radius.Add(c.pixels(2)), c.pixels(1), faint)
	}
	if c.hover != nil {
		if d := c.down[2]; d.is && d.moved {
			e.Action, e.From = Drag, d.at
		}
		text = c.hover(world, e, on)
	}
	return text, cursor
}

// Length returns a length or a coordinate of a screen as near as possible, for a [Raw].
func Length(v float64) fixed.Q {
	if math.IsNaN(v) {
		return 0
	}
	return fixed.Q(max(math.MinInt64, min(math.Ldexp(v, 32), 1<<63-1024)))
}
