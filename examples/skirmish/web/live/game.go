package live

import (
	"context"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/live"
)

// A Game is a match that the user plays or watches. Its methods are for one goroutine, which is not the session's.
type Game struct {
	match *live.Match

	// Touched only in the session's goroutine, or after its end.
	player  *play.Player
	painter scene.Painter
	effects scene.Effects
	events  events
	damaged []damage
	differs bool // the last checks found another state than the match
	look    look
}

// Join begins to play or watch the match at a WebSocket URL. Status reports the progress. With views the game is known by its views,
// and nothing is simulated; id is then the match's, as the server lists it.
func Join(ctx context.Context, url, token string, views bool, id string) *Game {
	g := newGame()
	g.begin(func(o live.Options) (*live.Match, error) {
		o.Views, o.ID = views, id
		return live.Join(ctx, url, token, g.look.game, o), nil
	})
	return g
}

// Play begins a match without a server, in which the user has seat 0. The error is that of the game.
func Play(solo live.Solo) (*Game, error) {
	g := newGame()
	return g, g.begin(func(o live.Options) (*live.Match, error) { return live.Play(g.look.game, solo, o) })
}

func rules() *lockstep.Game { return lockstep.MustGame(skirmish.Rules()).WithAssets(maps.Read) }

func newGame() *Game { return &Game{player: play.New(lockstep.System), look: look{game: rules()}} }

// begin begins the match that start returns.
func (g *Game) begin(start func(live.Options) (*live.Match, error)) (err error) {
	made := make(chan struct{}) // the session's goroutine waits for the match
	defer close(made)
	g.match, err = start(live.Options{
		Handle: func(c *player.Client, event any) { g.handle(c, event) },
		Observe: func(c *player.Client, event any) {
			<-made
			g.observe(lockstep.World[skirmish.World](c.Simulation()), event)
		},
		Words: play.Words,
	})
	return err
}

// observe takes an event of the game; w is the state of its tick.
func (g *Game) observe(w *skirmish.World, event any) {
	g.effects.Observe(w, event)
	g.events.observe(w, g.player, event)
	if sort, player, text := lineOf(event, g.player.Seat, g.player.Team(w)); text != "" {
		g.match.Tell(sort, player, text)
	}
}

// handle processes an event of the session.
func (g *Game) handle(c *player.Client, event any) {
	switch e := event.(type) {
	case player.Welcomed:
		if e.Seat != g.player.Seat {
			camera := g.player.Camera
			g.player = play.New(e.Seat)
			g.player.Camera = camera
		}
	case player.Synced:
		g.effects.Clear()
	case player.Looking:
		g.look.forget()
	case player.Desynced:
		g.differs = true
	case player.Explained: // perhaps after the checksums agree again
		if s := c.Simulation(); s != nil && g.differs {
			g.damaged = damaged(lockstep.World[skirmish.World](s), e.Fields.List)
		}
	case player.Healed:
		g.damaged, g.differs = nil, false
	}
}

// lineOf returns the line of news for a seat of a team about an event of the game: its sort, its player or -1, and its text, or
// "" for none.
func lineOf(event any, seat lockstep.Player, team uint8) (sort string, player int, text string) {
	switch e := event.(type) {
	case skirmish.Proposed:
		if lockstep.Player(e.To) == seat && !e.Withdrawn {
			return "game", int(e.By), "offers you an alliance"
		}
	case skirmish.Allied:
		return "game", int(e.Player), "has joined another team"
	case skirmish.AllianceBroken:
		return "game", int(e.Player), "has broken the alliance"
	case skirmish.SurrenderVoted:
		if lockstep.Player(e.Player) == seat {
			return "game", -1, ownVoteText(e)
		}
		return "game", int(e.Player), voteText(e)
	case skirmish.Surrendered:
		if e.Team == team {
			return "game", -1, "your team surrenders"
		}
		return "game", -1, fmt.Sprintf("team %d surrenders", e.Team+1)
	case skirmish.SightPermitted:
		if e.Observers {
			return "game", int(e.Player), "shares its sight with spectators"
		}
		return "game", int(e.Player), "hides its sight from spectators"
	case skirmish.PlayerDefeated:
		if lockstep.Player(e.Player) == seat {
			return "game", -1, "you are defeated"
		}
		return "game", int(e.Player), "is defeated"
	case skirmish.MatchWon:
		if e.Team == team {
			return "game", -1, "your team has won"
		}
		return "game", -1, fmt.Sprintf("team %d has won", e.Team+1)
	case skirmish.BuildingDone:
		return "built", int(e.Owner), fmt.Sprintf("%v complete", e.Kind)
	}
	return "", -1, ""
}

func voteText(e skirmish.SurrenderVoted) string {
	if e.Withdrawn {
		return "takes the vote to surrender back"
	}
	return fmt.Sprintf("votes to surrender, %s", votesOf(e))
}

// votesOf returns how many votes of those that the surrender needs there are.
func votesOf(e skirmish.SurrenderVoted) string {
	if e.Needed == 1 {
		return fmt.Sprintf("%d of 1 vote", e.Votes)
	}
	return fmt.Sprintf("%d of %d votes", e.Votes, e.Needed)
}

func ownVoteText(e skirmish.SurrenderVoted) string {
	if e.Withdrawn {
		return "you take the vote to surrender back"
	}
	return fmt.Sprintf("you vote to surrender, %s", votesOf(e))
}

// A moment is what is on the screen: two states, or what is known by views, and how far it is from one to the other.
type moment struct {
	before, now *skirmish.World
	fraction    player.Fraction
}

// moment returns what is on the screen of a client, if there is anything.
func (g *Game) moment(c *player.Client) (m moment, ok bool) {
	if v, ok := c.Interpolation(); ok {
		m = moment{lockstep.World[skirmish.World](v.Previous), lockstep.World[skirmish.World](v.Current), v.Fraction}
	} else if s, ok := c.Sight(); ok && g.look.take(&s, func(event any) { g.observe(&g.look.now, event) }) {
		m = moment{&g.look.before, &g.look.now, s.Fraction}
		g.player.Eyes = g.look.view.Team
	} else {
		return m, false
	}
	g.player.Look(m.now)
	return m, true
}

// see calls f with what is on the screen, if there is anything.
func (g *Game) see(f func(c *player.Client, m moment)) {
	g.match.Do(func(c *player.Client) {
		if m, ok := g.moment(c); ok {
			f(c, m)
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
	g.see(func(c *player.Client, m moment) {
		p, w := g.player, m.now
		if s.Width != p.Width || s.Height != p.Height || s.Below != p.Below || s.Above != p.Above {
			p.Above, p.Below = s.Above, s.Below
			p.Resize(s.Width, s.Height)
			p.Look(w) // at first to the player's base
		}
		view := p.View()
		view.Team, view.Player, view.Selected, view.Dots = p.Team(w), uint8(p.Seat), p.Selected(), s.Dots
		view.Seated = p.Seat != lockstep.System
		view.Ways, view.Effects, view.Now = true, &g.effects, uint32(c.Tick())
		if kind, at, fits := p.Ghost(w, s.PointerX, s.PointerY); kind != 0 {
			const shift = 32 - scene.PlaceBits
			view.Ghost, view.GhostX, view.GhostY = int32(kind), int32(at.X>>shift), int32(at.Y>>shift)
			if !fits {
				view.Ghost |= 1 << 8
			}
		}
		view.Marks = marksOf(w, g.damaged)
		dst = g.painter.Frame(dst, m.before, w, m.fraction, &view)
	})
	return dst
}

// Fog appends the fog of war of the player's team; see [scene.Fog].
func (g *Game) Fog(dst []byte) []byte {
	g.see(func(_ *player.Client, m moment) { dst = scene.Fog(dst, m.now, g.player.Team(m.now)) })
	return dst
}

// Ground appends the rocks; see [scene.Ground].
func (g *Game) Ground(dst []byte) []byte {
	g.see(func(_ *player.Client, m moment) { dst = scene.Ground(dst, m.now) })
	return dst
}

// Leave gives up the seat for good, or stops watching.
func (g *Game) Leave() { g.match.Leave() }

// Close stops playing or watching. The server keeps the seat for a while.
func (g *Game) Close() { g.match.Close() }

// Cut drops the connection, to demonstrate reconnecting.
func (g *Game) Cut() { g.match.Cut() }

// Replay returns the replay up to now of a match without a server, or nil.
func (g *Game) Replay() []byte { return g.match.Replay() }

// Retry connects at once, if the connection is lost.
func (g *Game) Retry() { g.match.Retry() }

// Done is closed when the session has ended.
func (g *Game) Done() <-chan struct{} { return g.match.Done() }

// SetReady says whether the user is ready, in the lobby of the match.
func (g *Game) SetReady(ready bool) { g.match.SetReady(ready) }

// Say sends a line of chat.
func (g *Game) Say(text string) { g.match.Say(text) }
