package live

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// give calls f, and submits the commands that it returns.
func (g *Game) give(f func(p *play.Player, w *skirmish.World) []any) {
	g.see(func(c *player.Client, m moment) {
		w := m.now
		commands := f(g.player, w)
		for _, command := range commands {
			g.effects.Order(w, c.Tick(), command)
		}
		g.match.SubmitOf(c, commands...)
		g.events.ordered(commands)
		if text := g.player.Problem(); text != "" {
			g.match.Tell("problem", -1, text)
		}
	})
}

// Click is a left-click: it selects, or it is the target of a mode's order. See [play.Player.Click] and
// [play.Player.Target].
func (g *Game) Click(x, y int64, add, twice bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		if mode, _ := p.Mode(); mode != play.Select {
			return p.Target(w, x, y, add)
		}
		p.Click(w, x, y, add, twice)
		return nil
	})
}

// Tap is a touch: it selects an own unit, or else gives the selected units an order.
func (g *Game) Tap(x, y int64) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		if mode, _ := p.Mode(); mode != play.Select {
			return p.Target(w, x, y, false)
		}
		return p.Tap(w, x, y)
	})
}

// Drag selects the units in a box; see [play.Player.Drag].
func (g *Game) Drag(x0, y0, x1, y1 int64, add bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		p.Drag(w, x0, y0, x1, y1, add)
		return nil
	})
}

// Act is a right-click; see [play.Player.Act].
func (g *Game) Act(x, y int64, queued bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any { return p.Act(w, x, y, queued) })
}

// Do is a button of the panel; see [play.Player.Do].
func (g *Game) Do(action string) {
	g.give(func(p *play.Player, w *skirmish.World) []any { return p.Do(w, action) })
}

// Key is a key; it reports whether the key has a function. See [play.Player.Key].
func (g *Game) Key(code string, shift, control bool) (known bool) {
	g.give(func(p *play.Player, w *skirmish.World) (commands []any) {
		commands, known = p.Key(w, code, shift, control)
		return commands
	})
	return known
}

// Ping shows a place to the player's team; see [play.Player.Ping].
func (g *Game) Ping(x, y int64) {
	g.give(func(p *play.Player, w *skirmish.World) []any { return p.Ping(w, x, y) })
}

// Mode returns the name of the mode of the next left-click on the map, or "" if it selects.
func (g *Game) Mode() (name string) {
	g.see(func(*player.Client, moment) {
		mode, _ := g.player.Mode()
		name = mode.String()
	})
	return name
}

// Aim returns what a click on a pixel would do; see [play.Player.Aim].
func (g *Game) Aim(x, y int64) (does string) {
	g.see(func(_ *player.Client, m moment) { does = g.player.Aim(m.now, x, y) })
	return does
}

// Pan moves the camera by pixels.
func (g *Game) Pan(dx, dy int64) {
	g.see(func(*player.Client, moment) { g.player.Pan(dx, dy) })
}

// Zoom multiplies the zoom by thousandths/1000, around a pixel.
func (g *Game) Zoom(thousandths, x, y int64) {
	g.see(func(*player.Client, moment) { g.player.ZoomBy(thousandths, x, y) })
}

// LookAt moves the camera over a place, in 1/65536 of the map's sides.
func (g *Game) LookAt(x, y int64) {
	g.see(func(_ *player.Client, m moment) {
		side := fixed.Q(m.now.Map.Size)
		g.player.LookAt(fixed.Vec2{X: side * fixed.Q(x) << 16, Y: side * fixed.Q(y) << 16})
	})
}
