package program

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/input"
)

type hovered struct {
	Text   string   `json:"text"`
	Cursor string   `json:"cursor"`
	Texts  []string `json:"texts"` // of the overlay
}

func (x *screen) input(f Functions) {
	f.When(func() bool { return x.match != nil && x.game.Input != nil }, Functions{
		"input": func(a Arguments) any { // sort, button, x, y, length of a pixel, milliseconds, key, shift, touch
			in := input.Raw{
				Sort: int(a.Int(0)), Button: int(a.Int(1)), Pixel: input.Length(a[4].Float()),
				Millis: a.Int(5), Key: a[6].String(), Shift: a[7].Bool(), Touch: a[8].Bool(),
			}
			in.At.X, in.At.Y = input.Length(a[2].Float()), input.Length(a[3].Float())
			x.ask(func(world any, seat int) []any { return x.game.Input.Take(world, seat, in) })
			return nil
		},
		"inputBlur": func(Arguments) any { x.ask(x.game.Input.Blur); return nil },
		"overlay": func(Arguments) any { // draws it; JSON
			var h hovered
			x.ask(func(world any, seat int) []any {
				x.overlay.Reset(seat)
				h.Text, h.Cursor = x.game.Input.Draw(world, seat, &x.overlay)
				return nil
			})
			h.Texts = append([]string{}, x.overlay.Texts()...)
			return Text(h)
		},
		"overlayPicture": func(a Arguments) any { return Fill(a[0], x.overlay.AppendWords) }, // array
	})
}

// ask lets the game's Input look at the state that is shown, and gives its commands.
func (x *screen) ask(f func(world any, seat int) []any) {
	if x.misled != "" {
		return
	}
	x.match.See(func(c *player.Client, v player.Interpolation) {
		defer func() {
			if r := recover(); r != nil {
				x.misled = fmt.Sprintf("the game's Input panicked: %v", r)
				x.overlay.Reset(-1)
			}
		}()
		seat := int(c.Status().Seat)
		if c.Status().Seat == lockstep.System {
			seat = -1
		}
		x.match.SubmitOf(c, f(x.game.Input.world(v.Current), seat)...)
	})
}
