package live

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// predictTicks limits prediction: on a slow connection the user's commands show a little later.
	predictTicks = 6

	// lateTicks is over how many ticks that are late the picture goes on.
	lateTicks = 10
)

// pingEvery is short, so that the page shows the true round trip two seconds after its start, and a silent server within one
// and a half even when the match stands still.
const pingEvery = lockstep.Second / 2

// Options are the game's part of a match. The zero value has none. The functions are called in the session's goroutine.
type Options struct {
	// Handle gets each event of the session. Nil disables it.
	Handle func(c *player.Client, event any)

	// Observe gets each event of the game while the match is live. Nil disables it.
	Observe func(c *player.Client, event any)

	// Views asks the server for views of the match: see [Match.Look]. There is no state then. ID is that of the match, as the server
	// lists it: views do not tell.
	Views bool
	ID    string

	// Words turns the game's reason for refusing a command into words for its player. Nil shows the reason as it is.
	Words func(detail string) string
}

// A Match is a match that the user plays or watches. Its methods are for one goroutine, which is not the session's.
type Match struct {
	options Options
	game    *lockstep.Game
	id      string // of the session, in the logs of the servers; "" without a server
	session session
	leave   func()

	// Touched only in the session's goroutine, or after its end.
	client *player.Client
	news   news
	began  time.Time

	configuration configuration
}

// Join begins to play or watch the match at a WebSocket URL. [Match.Status] reports the progress.
func Join(ctx context.Context, url, token string, g *lockstep.Game, o Options) *Match {
	ctx, cancel := context.WithCancel(ctx)
	m := &Match{options: o, game: g, leave: cancel, began: time.Now(), id: protocol.SessionID(rand.Uint64())}
	m.news.words = o.Words
	m.news.init(m.now)
	m.session = client.Dial(ctx, url, g, client.Options{
		ID:      m.id,
		Options: player.Options{Token: token, PingEvery: pingEvery, Predict: predictTicks, PredictLate: lateTicks, Interpolate: true, Observer: m.observe, Views: o.Views},
		Handle:  m.handle,
	})
	return m
}

// handle processes an event of the session.
func (m *Match) handle(c *player.Client, event any) {
	m.client = c
	if m.options.Handle != nil {
		m.options.Handle(c, event)
	}
	m.news.take(event)
}

// observe passes on an event of the game.
func (m *Match) observe(_ lockstep.Tick, event any) {
	if m.options.Observe == nil || m.client == nil || m.client.Simulation() == nil || m.client.Stage() != player.StageLive {
		return
	}
	m.options.Observe(m.client, event)
}

func (m *Match) now() lockstep.Time { return lockstep.Time(time.Since(m.began).Microseconds()) }

// Do calls f with the client in the session's goroutine, and reports whether it did. A closing session does not.
func (m *Match) Do(f func(c *player.Client)) bool {
	select {
	case <-m.session.Done():
		if m.client == nil {
			return false
		}
		f(m.client)
		return true
	default:
	}
	return m.session.Do(f) == nil
}

// See calls f with the states to be shown now, if there are any.
func (m *Match) See(f func(c *player.Client, v player.Interpolation)) {
	m.Do(func(c *player.Client) {
		if v, ok := c.Interpolation(); ok {
			f(c, v)
		}
	})
}

// Look calls f with the views to be shown now, if there are any.
func (m *Match) Look(f func(c *player.Client, s player.Sight)) {
	m.Do(func(c *player.Client) {
		if s, ok := c.Sight(); ok {
			f(c, s)
		}
	})
}

// Submit gives commands, as pointers to their registered types. The next status has an error as a line.
func (m *Match) Submit(commands ...any) {
	m.Do(func(c *player.Client) { m.SubmitOf(c, commands...) })
}

// SubmitOf is [Match.Submit] in the session's goroutine.
func (m *Match) SubmitOf(c *player.Client, commands ...any) {
	for _, command := range commands {
		if _, err := c.Submit(command); err != nil {
			m.news.problem("not sent: " + plain(err))
		}
	}
}

// Say sends a line of chat.
func (m *Match) Say(text string) {
	m.Do(func(c *player.Client) {
		if err := c.Chat(text); err != nil {
			m.news.problem("not sent: " + plain(err))
		}
	})
}

// SetReady says whether the user is ready, in the lobby of the match.
func (m *Match) SetReady(ready bool) { m.Do(func(c *player.Client) { c.SetReady(ready) }) }

// Tell adds a line to the news. Call it in the session's goroutine: in [Match.Do] or in a function of the [Options].
func (m *Match) Tell(sort string, player int, text string) { m.news.line(sort, player, text) }

// Corrupt changes one field of this client's state, to demonstrate how a desync is found and repaired. The path is that of
// a field of the state, see [state.Schema.Lookup].
func (m *Match) Corrupt(path string) {
	m.Do(func(c *player.Client) { m.CorruptOf(c, path) })
}

// CorruptOf is [Match.Corrupt] in the session's goroutine.
func (m *Match) CorruptOf(c *player.Client, path string) {
	if err := c.Corrupt(path); err != nil {
		m.news.problem(plain(err))
		return
	}
	m.news.corrupted(c.Tick(), m.game.StateSchema().Names(c.Simulation().AppendState(nil))(path))
}

// Leave gives up the seat for good, or stops watching.
func (m *Match) Leave() { m.leave() }

// Close stops playing or watching. The server keeps the seat for a while.
func (m *Match) Close() {
	m.session.Close()
	m.leave() // frees the context
}

// Cut drops the connection, to demonstrate reconnecting.
func (m *Match) Cut() { m.session.Cut() }

// Retry connects at once, if the connection is lost.
func (m *Match) Retry() { m.session.Retry() }

// Done is closed when the session has ended.
func (m *Match) Done() <-chan struct{} { return m.session.Done() }
