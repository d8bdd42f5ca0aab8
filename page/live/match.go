// Package live is a live match on a page: a [client.Session], with its news and its status as text. A page asks a few times a
// second, so nothing calls it.
//
//	m := live.Join(ctx, "wss://host/matches/duel/play", token, game, live.Options{})
//	m.See(func(c *player.Client, v player.Interpolation) { draw(v.Current) })
//	m.Submit(&Move{…})
//	status, ok := m.Status() // encoded as JSON for the page
//
// It needs no browser: its tests use a real server.
package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// predictTicks limits prediction: on a slow connection the user's commands show a little later.
	predictTicks = 6

	// lateTicks is over how many ticks that are late the picture goes on.
	lateTicks = 10
)

// pingEvery is short, so that the page soon shows the round trip, and a silent server within one and a half seconds.
const pingEvery = lockstep.Second / 2

// Options are the game's part of a match. The zero value has none. The functions are called in the session's goroutine.
type Options struct {
	// Handle gets each event of the session. Nil disables it.
	Handle func(c *player.Client, event any)

	// Observe gets each event of the game while the match is live. Nil disables it.
	Observe func(c *player.Client, event any)

	// Views asks the server for views of the match: see [Match.Look]. ID is that of the match, as the server lists it: views do not tell.
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

func (m *Match) handle(c *player.Client, event any) {
	m.client = c
	if m.options.Handle != nil {
		m.options.Handle(c, event)
	}
	m.news.take(event)
}

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

// Corrupt changes a field of this client's state, by a path as [state.Schema.Lookup] takes it, to show how a desync is found and repaired.
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

const (
	localPeriod = 8 * time.Millisecond   // between two looks at the clock
	localGap    = 100 * time.Millisecond // more than that is not played: the browser lets a hidden page sleep
)

// A Solo is a match without a server: the user against bots.
type Solo struct {
	Name     string         // of the user
	Config   any            // pointer to the game's configuration
	Seed     uint64         // of the match
	TickRate uint16         // ticks per second; 0: those of lockstep.DefaultSettings
	Bots     []lockstep.Bot // by seat; the user has the first one where it is nil
}

// Play begins a match in this process. It stands still while nothing lets this process run, such as in a hidden page.
func Play(g *lockstep.Game, solo Solo, o Options) (*Match, error) {
	s := &localSession{done: make(chan struct{}), stopped: make(chan struct{})}
	m := &Match{options: o, game: g, session: s, began: time.Now(), leave: s.stop}
	m.news.words = o.Words
	m.news.init(m.now)
	s.writer = replay.NewWriter(&s.file, replay.WriterOptions{})
	settings := lockstep.DefaultSettings(uint8(min(max(1, len(solo.Bots)), lockstep.MaxPlayers)))
	settings.Seed, settings.TickMicros = solo.Seed, lockstep.TickPeriod(cmp.Or(solo.TickRate, settings.TickRate()))
	var err error
	s.match, err = local.New(g, solo.Config, local.Options{
		Settings: settings, Bots: solo.Bots, Name: solo.Name, Log: s.writer,
		Handle: func(event any) { m.handle(s.match.Client(), event) },
		Client: player.Options{Predict: predictTicks, Interpolate: true, Observer: m.observe},
	})
	if err != nil {
		return nil, err
	}
	m.client = s.match.Client()
	go s.run()
	return m, nil
}

// Replay returns the replay of a match that was begun with [Play], up to now, or nil.
func (m *Match) Replay() (file []byte) {
	s, ok := m.session.(*localSession)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer.Flush() != nil {
		return nil
	}
	return bytes.Clone(s.file.Bytes())
}

type session interface {
	Do(f func(*player.Client)) error
	Done() <-chan struct{}
	Close()
	Cut() error
	Retry() error
}

type localSession struct {
	stopping sync.Once
	stopped  chan struct{}
	done     chan struct{}

	mu     sync.Mutex // of the rest
	match  *local.Match
	now    lockstep.Time
	file   bytes.Buffer
	writer *replay.Writer
}

func (s *localSession) run() {
	defer close(s.done)
	tick := time.NewTicker(localPeriod)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-s.stopped:
			s.end()
			return
		case <-tick.C:
		}
		now := time.Now()
		if !s.advance(min(now.Sub(last), localGap)) {
			return
		}
		last = now
	}
}

func (s *localSession) advance(elapsed time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += lockstep.Time(elapsed.Microseconds())
	return s.match.Advance(s.now) == nil
}

func (s *localSession) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.match.Host().Admin().End(s.now, "the player has left") == nil {
		_ = s.match.Advance(s.now) // the match is over, and so is its log
	}
}

func (s *localSession) stop() { s.stopping.Do(func() { close(s.stopped) }) }

func (s *localSession) Do(f func(*player.Client)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.match.Client())
	return nil
}

func (s *localSession) Done() <-chan struct{} { return s.done }

func (s *localSession) Close() {
	s.stop()
	<-s.done
}

// Cut and Retry do nothing: there is no connection.
func (s *localSession) Cut() error   { return nil }
func (s *localSession) Retry() error { return nil }

type request struct {
	Game    string          `json:"game"`
	Players uint8           `json:"players"`
	Period  uint32          `json:"tick_micros"`
	Seed    uint64          `json:"seed,string"`
	Config  json.RawMessage `json:"config"`
}

// Request returns the body of a request for a match like this one, without its name and bots, as JSON; nothing before there is a state.
func (m *Match) Request() (body []byte) {
	m.See(func(c *player.Client, _ player.Interpolation) {
		h, config := c.Header(), bytes.Buffer{}
		if m.game.ConfigSchema().DumpJSON(&config, h.Config) != nil {
			return // the header is good, so this does not happen
		}
		r := request{Game: m.game.Name(), Players: h.Settings.Players, Period: h.Settings.TickMicros, Seed: h.Settings.Seed, Config: config.Bytes()}
		body, _ = json.Marshal(&r) // plain data
	})
	return body
}

// Status returns the state of the match for the page, and takes the news. It reports false while the session is closing.
func (m *Match) Status() (s Status, ok bool) {
	ok = m.Do(func(c *player.Client) { s = m.StatusOf(c) })
	return s, ok
}

// StatusOf is [Match.Status] in the session's goroutine.
func (m *Match) StatusOf(c *player.Client) Status {
	n := &m.news
	s := Status{Net: netOf(c), Lines: append([]Line{}, n.lines...), Link: n.link, Mismatch: n.differ}
	s.Net.Session = m.id
	n.lines = n.lines[:0]
	now := m.now()
	if n.link.Held != "" {
		s.Link.SinceMS = max(0, (now - n.since).Milliseconds())
	}
	if n.until > 0 {
		s.Link.UntilMS = max(0, (n.until - now).Milliseconds())
	}
	if n.lostAt > 0 {
		s.Link.LostMS = (now - n.lostAt).Milliseconds()
	}
	s.Checks = checksOf(c)
	s.Seats = []Seat{}
	for _, seat := range c.Seats() {
		s.Seats = append(s.Seats, Seat{int(seat.Player), seat.Name, seat.Presence.String(), seat.Ready})
	}
	if n.retry > 0 {
		s.Link.RetryMS = max(0, (n.retry - now).Milliseconds())
	}
	if n.desync.Tick != 0 || n.desync.Planted != "" {
		d := n.desync
		s.Desync = &d
	}
	if _, ok := c.Interpolation(); ok {
		h := c.Header()
		s.Match = &Facts{ID: h.Match.String(), Players: h.Settings.Players, TickMicros: h.Settings.TickMicros, CheckEvery: h.Settings.CheckEvery}
		s.Net.BehindMS = h.Settings.Micros(max(0, int64(s.Net.ServerTick)-int64(s.Net.Tick))) / 1000
		if n.link.Lobby {
			s.Match.Configuration, s.Match.Whole = m.configuration.of(m.game, h)
		}
	} else if sight, ok := c.Sight(); ok {
		s.Views = sight.Viewer
		s.Match = &Facts{ID: m.options.ID, Players: sight.Players, TickMicros: uint32(sight.Period)}
		s.Net.BehindMS = (lockstep.Time(max(s.Net.ServerTick, s.Net.Tick)-s.Net.Tick) * sight.Period).Milliseconds()
	}
	return s
}

func netOf(c *player.Client) Net {
	s := c.Status()
	n := Net{
		Stage: s.Stage.String(), Seat: int(s.Seat), Tick: uint32(s.Tick), ServerTick: uint32(s.ServerTick), Predicted: uint32(s.Predicted),
		InputDelay: uint32(s.InputDelay), Backlog: uint32(s.Backlog), Speed: s.Speed,
		RoundTripUS: int64(s.RoundTrip), JitterUS: int64(s.Jitter), DelayUS: int64(s.RenderDelay),
		Agreed: s.Agreed, Differing: s.Differing, Unanswered: s.Unanswered,
		WatchedMS: s.Watched.Milliseconds(), Stalls: s.Stalls, Corrections: s.Corrections, LateFrames: s.LateFrames,
		Datagrams: s.Datagrams, LossInPPM: s.LossIn, LossOutPPM: s.LossOut, Repeats: s.Repeats,
		In: s.BytesInRate, Out: s.BytesOutRate, TotalIn: s.BytesIn, TotalOut: s.BytesOut,
	}
	if s.Seat == lockstep.System {
		n.Seat = -1
	}
	return n
}

func checksOf(c *player.Client) []Check {
	all := []Check{}
	for _, k := range c.Checks() {
		to := Check{Tick: uint32(k.Tick), Differing: []Differing{}}
		if k.Ours != 0 {
			to.Ours = checksum.FormatHash(k.Ours)
		}
		if k.Match != 0 {
			to.Match = checksum.FormatHash(k.Match)
		}
		for _, d := range k.Differing {
			to.Differing = append(to.Differing, Differing{int(d.Player), checksum.FormatHash(d.Hash)})
		}
		all = append(all, to)
	}
	return all
}

// maxConfiguration bounds the text of a configuration, in bytes: a map in it can have many thousand cells.
const maxConfiguration = 4 << 10

// A configuration is that of a match as text for people. It is made once.
type configuration struct {
	match lockstep.MatchID
	text  []byte
	whole bool
}

// of returns the configuration in a header, up to maxConfiguration, and reports whether that is all.
func (c *configuration) of(g *lockstep.Game, h *lockstep.Header) (text string, whole bool) {
	if c.match != h.Match || c.text == nil {
		c.match, c.text = h.Match, []byte{}
		c.whole = g.ConfigSchema().Dump(c, h.Config) == nil // the header is good; the other error is our own
	}
	return string(c.text), c.whole
}

var errEnough = errors.New("live: the configuration is long")

// Write takes text up to maxConfiguration. It never splits a character.
func (c *configuration) Write(p []byte) (int, error) {
	n := min(len(p), maxConfiguration-len(c.text))
	for n < len(p) && n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	c.text = append(c.text, p[:n]...)
	if n < len(p) {
		return n, errEnough
	}
	return n, nil
}
