package rules

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
)

// Draw draws a world on the game's page.
func Draw(c *canvas.Canvas, w *World) {
	c.Rect(fixed.Vec2{}, (&Walk{X: 255, Y: 255}).at(), 0x3a3328ff)
	for _, gold := range w.Gold {
		c.Circle(gold, fixed.One, 0xf5c542ff)
	}
	for i := range w.Diggers {
		c.Circle(w.Diggers[i].At, 3*fixed.One, canvas.PlayerColour(i))
	}
}

// Input has what a player can click: the own digger is selected, and walks to where the right button is pressed.
var Input = input.Handler[World]{
	Units: func(w *World) (all []input.Unit) {
		for i := range w.Diggers {
			all = append(all, input.Unit{ID: uint64(i), Owner: i, At: w.Diggers[i].At, Radius: 3 * fixed.One})
		}
		return all
	},
	Act: func(_ *World, e *input.Event) []any {
		if e.Action != input.Order || len(e.Selected) == 0 {
			return nil
		}
		return []any{walkTo(e.At)}
	},
	Hover: func(_ *World, e *input.Event, c *canvas.Canvas) string {
		if len(e.Selected) == 0 {
			return "click your digger"
		}
		c.Line(e.Selected[0].At, walkTo(e.At).at(), fixed.Half, 0xffffff80)
		return "right click: walk here"
	},
}

// walkTo returns the command to walk to the cell at a place.
func walkTo(at fixed.Vec2) *Walk {
	cell := func(q fixed.Q) uint8 { return uint8(min(max(q.Round().Int(), 0), 255)) }
	return &Walk{X: cell(at.X), Y: cell(at.Y)}
}
