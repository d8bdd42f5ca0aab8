package live

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// give lets the player do something, and submits the commands that come of it.
func (g *Game) give(f func(p *play.Player, w *skirmish.World) []any) {
	g.see(func(c *player.Client, _ player.View, w *skirmish.World) {
		for _, command := range f(g.player, w) {
			if _, err := c.Submit(command); err != nil {
				g.news.problem("not sent: " + plain(err))
			}
		}
		if text := g.player.Problem(); text != "" {
			g.news.problem(text)
		}
	})
}

// Click is a click with the first button: it chooses, or it is where a mode's order
// leads. See [play.Player.Click] and [play.Player.Target].
func (g *Game) Click(x, y int64, add, twice bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		if mode, _ := p.Mode(); mode != play.Select {
			return p.Target(w, x, y, add)
		}
		p.Click(w, x, y, add, twice)
		return nil
	})
}

// Tap is a touch: it chooses an own unit, or else gives those chosen an order.
func (g *Game) Tap(x, y int64) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		if mode, _ := p.Mode(); mode != play.Select {
			return p.Target(w, x, y, false)
		}
		return p.Tap(w, x, y)
	})
}

// Drag chooses what is in a box; see [play.Player.Drag].
func (g *Game) Drag(x0, y0, x1, y1 int64, add bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any {
		p.Drag(w, x0, y0, x1, y1, add)
		return nil
	})
}

// Act is a click with the other button; see [play.Player.Act].
func (g *Game) Act(x, y int64, queued bool) {
	g.give(func(p *play.Player, w *skirmish.World) []any { return p.Act(w, x, y, queued) })
}

// Do is a button of the panel; see [play.Player.Do].
func (g *Game) Do(action string) {
	g.give(func(p *play.Player, w *skirmish.World) []any { return p.Do(w, action) })
}

// Key is a key; it reports whether the key is for anything. See [play.Player.Key].
func (g *Game) Key(code string, shift, control bool) (known bool) {
	g.give(func(p *play.Player, w *skirmish.World) (commands []any) {
		commands, known = p.Key(w, code, shift, control)
		return commands
	})
	return known
}

// Pan moves the camera by pixels.
func (g *Game) Pan(dx, dy int64) {
	g.see(func(*player.Client, player.View, *skirmish.World) { g.player.Pan(dx, dy) })
}

// Zoom changes the zoom to so many thousandths, around a pixel.
func (g *Game) Zoom(thousandths, x, y int64) {
	g.see(func(*player.Client, player.View, *skirmish.World) { g.player.ZoomBy(thousandths, x, y) })
}

// LookAt moves the camera over a place, in 1/65536 of the map's sides.
func (g *Game) LookAt(x, y int64) {
	g.see(func(_ *player.Client, _ player.View, w *skirmish.World) {
		side := fixed.Q(w.Map.Size)
		g.player.LookAt(fixed.Vec2{X: side * fixed.Q(x) << 16, Y: side * fixed.Q(y) << 16})
	})
}

// Corrupt changes a field of this client's state, to show how that is found and
// healed: the health of the first chosen unit, or of the first there is.
func (g *Game) Corrupt() {
	g.see(func(c *player.Client, _ player.View, _ *skirmish.World) {
		w := lockstep.World[skirmish.World](c.Simulation())
		index := 0
		for i := range w.Units {
			if chosen := g.player.Chosen(); len(chosen) > 0 && w.Units[i].ID == chosen[0] {
				index = i
			}
		}
		path := fmt.Sprintf("Units[%d].Health", index)
		if err := c.Corrupt(path); err != nil {
			g.news.problem(plain(err))
			return
		}
		g.news.corrupted(c.Tick(), path)
	})
}
