package input

import "github.com/seed-49bee653/samestep/fixed"

// A Script plays a handler in a test, with the mouse and the keys of the player in a seat. World may change between two steps, and each step
// returns its commands.
type Script[S any] struct {
	World *S
	Seat  int
	Shift bool // is held

	c      *Controller
	millis int64
}

// NewScript returns a script without a selection.
func NewScript[S any](h Handler[S], world *S, seat int) *Script[S] {
	return &Script[S]{World: world, Seat: seat, c: New(h)}
}

// Click clicks with the left button.
func (s *Script[S]) Click(at fixed.Vec2) []any {
	s.millis += 2 * doubleMillis
	return s.mouse(0, at, at)
}

// DoubleClick clicks twice with the left button, and returns the commands of both.
func (s *Script[S]) DoubleClick(at fixed.Vec2) []any {
	return append(s.Click(at), s.mouse(0, at, at)...)
}

// Box drags a box with the left button, between two corners.
func (s *Script[S]) Box(a, b fixed.Vec2) []any { return s.mouse(0, a, b) }

// Order clicks with the right button.
func (s *Script[S]) Order(at fixed.Vec2) []any { return s.mouse(2, at, at) }

// Drag drags with the right button.
func (s *Script[S]) Drag(from, to fixed.Vec2) []any { return s.mouse(2, from, to) }

// Press presses a key, and holds it.
func (s *Script[S]) Press(key string) []any { return s.take(Raw{Sort: KeyDown, Key: key}) }

// Release releases a key.
func (s *Script[S]) Release(key string) []any { return s.take(Raw{Sort: KeyUp, Key: key}) }

// Selected returns the selected units.
func (s *Script[S]) Selected() []Unit { return s.c.event(s.World, s.Seat).Selected }

func (s *Script[S]) mouse(button int, from, to fixed.Vec2) (commands []any) {
	for _, in := range []Raw{{Sort: Moved, At: from}, {Sort: Pressed, At: from}, {Sort: Moved, At: to}, {Sort: Released, At: to}} {
		in.Button = button
		commands = append(commands, s.take(in)...)
	}
	return commands
}

func (s *Script[S]) take(in Raw) []any {
	in.Shift, in.Millis = s.Shift, s.millis
	return s.c.Take(s.World, s.Seat, in)
}
