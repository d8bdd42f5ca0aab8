package live

import (
	"context"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// predictTicks limits prediction: on a slow connection the user's commands show a little later.
const predictTicks = 6

// A Game is a match that the user plays or watches. Its methods are for one goroutine, which is not the session's.
type Game struct {
	session *client.Session
	leave   context.CancelFunc

	// Touched only in the session's goroutine, or after its end.
	client  *player.Client
	player  *play.Player
	painter scene.Painter
	effects scene.Effects
	news    news
	began   time.Time
}

// Join begins to play or watch the match at a WebSocket URL. Status reports the progress.
func Join(ctx context.Context, url, token string) *Game {
	ctx, cancel := context.WithCancel(ctx)
	g := &Game{leave: cancel, player: play.New(lockstep.System), began: time.Now()}
	g.news.init()
	g.session = client.Dial(ctx, url, lockstep.MustGame(skirmish.Rules()), client.Options{
		Options: player.Options{
			Token: token, Predict: predictTicks, Interpolate: true, Observer: g.observe,
		},
		Handle: g.handle,
	})
	return g
}

// handle processes an event of the session.
func (g *Game) handle(c *player.Client, event any) {
	g.client = c
	switch e := event.(type) {
	case player.Welcomed:
		if e.Seat != g.player.Seat {
			camera := g.player.Camera
			g.player = play.New(e.Seat)
			g.player.Camera = camera
		}
	case player.Synced:
		g.effects.Clear()
	}
	g.news.take(event)
}

// observe processes an event of the game.
func (g *Game) observe(_ lockstep.Tick, event any) {
	if g.client == nil || g.client.Simulation() == nil || g.client.Stage() != player.StageLive {
		return
	}
	g.effects.Observe(lockstep.World[skirmish.World](g.client.Simulation()), event)
	g.news.report(event)
}

func (g *Game) now() lockstep.Time { return lockstep.Time(time.Since(g.began).Microseconds()) }

// do calls f with the client in the session's goroutine, and reports whether it did. A closing session does not.
func (g *Game) do(f func(c *player.Client)) bool {
	select {
	case <-g.session.Done():
		if g.client == nil {
			return false
		}
		f(g.client)
		return true
	default:
	}
	return g.session.Do(f) == nil
}

// see calls f with the state on the screen, if there is one.
func (g *Game) see(f func(c *player.Client, v player.View, w *skirmish.World)) {
	g.do(func(c *player.Client) {
		if v, ok := c.View(); ok {
			w := lockstep.World[skirmish.World](v.Current)
			g.player.Look(w)
			f(c, v, w)
		}
	})
}

// A Screen describes the screen of a frame.
type Screen struct {
	Width, Height      int64 // pixels
	Above, Below       int64 // covered pixels of the height
	PointerX, PointerY int64 // where the building to be placed is shown; nowhere if outside
	Dots               bool  // for the minimap too
}

// Frame appends the frame to be drawn now (see package scene), or nothing before there is a state.
func (g *Game) Frame(dst []byte, s Screen) []byte {
	g.see(func(c *player.Client, v player.View, w *skirmish.World) {
		p := g.player
		if s.Width != p.Width || s.Height != p.Height || s.Below != p.Below || s.Above != p.Above {
			p.Above, p.Below = s.Above, s.Below
			p.Resize(s.Width, s.Height)
		}
		view := p.View()
		view.Team, view.Player, view.Selected, view.Dots = p.Team(w), uint8(p.Seat), p.Selected(), s.Dots
		view.Ways, view.Effects, view.Now = true, &g.effects, uint32(c.Tick())
		if kind, at, fits := p.Ghost(w, s.PointerX, s.PointerY); kind != 0 {
			const shift = 32 - scene.PlaceBits
			view.Ghost, view.GhostX, view.GhostY = int32(kind), int32(at.X>>shift), int32(at.Y>>shift)
			if !fits {
				view.Ghost |= 1 << 8
			}
		}
		dst = g.painter.Frame(dst, lockstep.World[skirmish.World](v.Previous), w, v.Fraction, &view)
	})
	return dst
}

// Fog appends the fog of war of the player's team; see [scene.Fog].
func (g *Game) Fog(dst []byte) []byte {
	g.see(func(_ *player.Client, _ player.View, w *skirmish.World) {
		dst = scene.Fog(dst, w, g.player.Team(w))
	})
	return dst
}

// Ground appends the rocks; see [scene.Ground].
func (g *Game) Ground(dst []byte) []byte {
	g.see(func(_ *player.Client, _ player.View, w *skirmish.World) { dst = scene.Ground(dst, w) })
	return dst
}

// Leave gives up the seat for good, or stops watching.
func (g *Game) Leave() { g.leave() }

// Close stops playing or watching. The server keeps the seat for a while.
func (g *Game) Close() {
	g.session.Close()
	g.leave() // frees the context
}

// Cut drops the connection, to demonstrate reconnecting.
func (g *Game) Cut() { g.session.Cut() }

// Done is closed when the session has ended.
func (g *Game) Done() <-chan struct{} { return g.session.Done() }

// Say sends a line of chat.
func (g *Game) Say(text string) {
	g.do(func(c *player.Client) {
		if err := c.Chat(text); err != nil {
			g.news.problem("not sent: " + plain(err))
		}
	})
}
