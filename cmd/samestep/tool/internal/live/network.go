//go:build !js

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A networkDemo is the demo over real sockets: a server, and guests that connect over bad links.
type networkDemo struct {
	options demoOptions
	game    *gameset.Playable
	match   *server.Match
	url     string
	tokens  map[string]string // by name
	guests  []*netGuest       // the players, the slow spectator, and the late one
	story   networkStory
}

// A netGuest is one client of the network demo, and what it has observed.
type netGuest struct {
	name    string
	session *client.Session
	bot     lockstep.Bot

	mu     sync.Mutex
	links  []*netsim.Conn
	events map[string]int // by name of type
	tick   lockstep.Tick
	hash   uint64
	synced time.Time // for the first time
	lost   time.Time // the connection
	back   time.Time // the stream
	healed lockstep.Tick
}

// playerLink is the link of each player and the late spectator.
var playerLink = netsim.Link{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 5000}

func runNetworkDemo(ctx context.Context, o demoOptions, bar *console.Progress) (*networkStory, error) {
	d := &networkDemo{options: o, game: o.Game, tokens: make(map[string]string)}
	d.story.apart = gameset.List{o.Game}.Apart()
	d.story.program, d.story.games = o.Program, replay.Games{o.Game.Game}
	stop, err := d.open()
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := d.play(ctx, bar); err != nil {
		return nil, err
	}
	return &d.story, d.conclude()
}

func (d *networkDemo) open() (stop func(), err error) {
	if err := d.options.makeDir(); err != nil {
		return nil, err
	}
	authorizer := grants{}
	add := func(name string, role protocol.Role, seat lockstep.Player) {
		d.tokens[name] = serving.DrawToken()
		authorizer[d.tokens[name]] = host.Grant{Role: role, Seat: seat, Subject: name, Name: name}
	}
	for p := range lockstep.Player(d.options.Players) {
		add(playerName(p), protocol.Seated, p)
	}
	add("late", protocol.Spectator, host.AnySeat)
	add("slow", protocol.Spectator, host.AnySeat)
	spec, err := d.options.spec(d.game, d.options.Players)
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Options{
		Authorizer: authorizer, Dir: d.options.Dir, Log: slog.New(slog.DiscardHandler),
		Host: host.Options{InputDelay: 2, Lag: max(2, d.options.ticksIn(2)), Start: host.StartPolicy{Players: int(d.options.Players)}},
	})
	if err != nil {
		return nil, err
	}
	if d.match, err = s.Create(spec); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d.url = fmt.Sprintf("ws://%s/matches/demo/play", l.Addr())
	h := server.HTTPServer("", s)
	go h.Serve(l)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		h.Close()
	}, nil
}

// spec describes the match of a demo with a server.
func (o *demoOptions) spec(g *gameset.Playable, seats uint) (server.MatchSpec, error) {
	return serving.MatchSpec(g, serving.MatchRequest{Name: "demo", Players: uint8(seats), Units: uint16(o.units), Config: o.override, TickMicros: o.Tick, Seed: o.Seed})
}

// grants authorizes by exact tokens.
type grants map[string]host.Grant

// Authorize implements [server.Authorizer].
func (g grants) Authorize(token, _ string) (host.Grant, error) {
	if grant, ok := g[token]; ok {
		return grant, nil
	}
	return host.Grant{}, server.ErrRefused
}

func playerName(p lockstep.Player) string { return fmt.Sprintf("bot %d", p) }

// join connects a guest over a link. The bot may be nil.
func (d *networkDemo) join(ctx context.Context, name string, l netsim.Link, bot lockstep.Bot) *netGuest {
	g := &netGuest{name: name, events: make(map[string]int), bot: bot}
	d.guests = append(d.guests, g)
	l.Seed = d.options.Seed*100 + uint64(len(d.guests))
	g.session = client.Dial(ctx, d.url, d.game.Game, client.Options{
		Options: player.Options{Token: d.tokens[name]},
		Handle:  func(_ *player.Client, e any) { g.event(e) },
		Sample:  g.sample,
		Wrap:    through(l, g.linked),
	})
	return g
}

func (g *netGuest) linked(l *netsim.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.links = append(g.links, l)
}

func (g *netGuest) event(e any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events[reflect.TypeOf(e).Name()]++
	switch e := e.(type) {
	case player.Synced:
		if g.synced.IsZero() {
			g.synced = time.Now()
		}
	case player.ConnectionLost:
		g.lost = time.Now()
	case player.StreamResumed:
		g.back = time.Now()
	case player.Healed:
		g.healed = e.Tick
	}
}

// sample lets the bot play, and keeps the guest's tick and state hash.
func (g *netGuest) sample(c *player.Client) {
	g.mu.Lock()
	g.tick, g.hash = c.Simulation().Tick(), c.Simulation().Hash()
	g.mu.Unlock()
	gameset.PlayTurn(c, g.bot)
}

func (g *netGuest) now() lockstep.Tick {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tick
}

// block lets nothing reach the guest for a time.
func (g *netGuest) block(t time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.links {
		l.Stall(false, true)
		time.AfterFunc(t, func() { l.Stall(false, false) })
	}
}

// A step is something that the demo does at a tick.
type step struct {
	at lockstep.Tick
	do func() error
}

// play runs the match in real time, and does the steps when they are due.
func (d *networkDemo) play(ctx context.Context, bar *console.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, d.options.matchTime()+time.Minute)
	defer cancel()
	for p := range lockstep.Player(d.options.Players) {
		d.join(ctx, playerName(p), playerLink, d.game.Bot(p, d.options.Seed))
	}
	first, last := d.guests[0], d.guests[len(d.guests)-1]
	slow := d.join(ctx, "slow", netsim.Link{}, nil)
	end := d.options.Length
	steps := []step{
		{end / 5, func() error { slow.block(d.blockTime()); return nil }},
		{end * 2 / 5, func() error { d.story.Cut.Tick = first.now(); return first.session.Cut() }},
		{end / 2, func() error {
			d.story.Late.Tick, d.story.Late.since = d.match.Status().Tick, time.Now()
			d.join(ctx, "late", playerLink, nil)
			return nil
		}},
		{end * 3 / 5, func() error { return d.corrupt(last) }},
		{end, func() error { return d.end(ctx) }},
	}
	for len(steps) > 0 {
		var tick lockstep.Tick
		if err := d.match.Do(ctx, func(h *host.Host) { tick = h.Now() }); err != nil {
			return err
		}
		for len(steps) > 0 && tick >= steps[0].at {
			if err := steps[0].do(); err != nil {
				return err
			}
			steps = steps[1:]
		}
		bar.Set(int64(min(tick, end)))
		time.Sleep(10 * time.Millisecond)
	}
	bar.Done()
	for _, g := range d.guests {
		if err := g.session.Wait(); err != nil {
			d.story.expect(false, "%s: %v", g.name, err)
		}
	}
	<-d.match.Done()
	return nil
}

// blockTime is how long nothing reaches the slow spectator: longer than the server keeps records for it.
func (d *networkDemo) blockTime() time.Duration {
	return min(3*time.Second, d.options.matchTime()/4)
}

// corrupt changes a field of a guest's state behind the engine's back.
func (d *networkDemo) corrupt(g *netGuest) (err error) {
	gone := g.session.Do(func(c *player.Client) {
		var path string
		if path, err = faultinjection.FieldThatLasts(d.game.Game, c.Simulation()); err != nil {
			return
		}
		d.story.Planted = plantedError{Path: path, Tick: c.Simulation().Tick() + 1, Player: c.Status().Seat}
		before := c.Simulation().AppendState(nil)
		if err = c.Corrupt(path); err != nil {
			return
		}
		if fields, _, err := desync.DiffStates(d.game.StateSchema(), before, c.Simulation().AppendState(nil), ""); err == nil && len(fields.List) > 0 {
			d.story.Planted.Path = fields.List[0].Path // named as all reports name it
		}
	})
	return errors.Join(gone, err)
}

// end ends the match, and keeps the referee's results.
func (d *networkDemo) end(ctx context.Context) (err error) {
	gone := d.match.Do(ctx, func(h *host.Host) {
		m, stats := &d.story.Match, h.Stats()
		m.Ticks, m.Checksum, d.story.hash = h.Now(), stateHash(h.Referee()), h.Referee().Simulation().Hash()
		m.Commands, m.BytesOut, m.Keyframes = stats.Commands, stats.BytesOut, stats.SyncKeyframes
		err = h.Admin().End(lockstep.Time(0), "the demo is over")
	})
	return errors.Join(gone, err)
}

// bundle returns the path of the desync bundle next to the replay.
func (d *networkDemo) bundle() (string, error) {
	paths, err := filepath.Glob(strings.TrimSuffix(d.match.ReplayPath(), ".ssr") + "-desync-*.zip")
	if err == nil && len(paths) == 0 {
		err = errors.New("no desync bundle was written")
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// A networkStory is the result of a network demo, as --json prints it.
type networkStory struct {
	demoChecks
	Match struct {
		Ticks     lockstep.Tick `json:"ticks"`
		Players   uint          `json:"players"`
		Commands  uint64        `json:"commands,string"`
		BytesOut  uint64        `json:"bytes_out,string"`
		Keyframes uint64        `json:"keyframes_made,string"`
		Checksum  string        `json:"checksum"`
	} `json:"match"`
	Late struct {
		Tick   lockstep.Tick `json:"tick"`
		LiveMS float64       `json:"live_after_ms"`
		Equal  bool          `json:"equal"`
		since  time.Time
	} `json:"late_join"`
	Cut struct {
		Tick   lockstep.Tick `json:"tick"`
		BackMS float64       `json:"back_after_ms"`
		Tail   bool          `json:"tail_only"`
	} `json:"cut"`
	Slow struct {
		HeldMS int64 `json:"held_ms,string"`
		Synced int   `json:"synced"`
		Equal  bool  `json:"equal"`
	} `json:"slow_spectator"`
	Desync struct {
		Tick   lockstep.Tick `json:"tick"`
		Healed lockstep.Tick `json:"healed_at"`
		Path   string        `json:"path"`
		Want   string        `json:"want"`
		Got    string        `json:"got"`
	} `json:"desync"`
	Replay string `json:"replay"`

	hash  uint64 // of the referee's last state
	ended string // whether all guests have it, in words
}

// conclude compares the results with the expected ones.
func (d *networkDemo) conclude() error {
	s := &d.story
	s.Failures = append([]string{}, s.Failures...) // not null in JSON
	s.Match.Players = d.options.Players
	corrupted := d.guests[d.options.Players-1]
	s.ended = "for all"
	for _, g := range d.guests {
		if g.hash != s.hash {
			s.ended, s.parted = "not for all", s.parted || g.tick == s.Match.Ticks
		}
		s.expect(g.tick == s.Match.Ticks && g.hash == s.hash, "%s ended at tick %d with another state", g.name, g.tick)
		s.expect(g == corrupted || g.events["Desynced"] == 0, "%s received a desync report", g.name)
	}
	d.concludeLinks()
	if err := d.concludeDesync(corrupted); err != nil {
		s.expect(false, "%v", err)
	}
	s.Replay = d.match.ReplayPath()
	_, err := s.verify(s.Replay, s.Match.Ticks)
	return err
}

// concludeLinks checks the player with the lost connection, the slow spectator and the late one.
func (d *networkDemo) concludeLinks() {
	s, cut, slow, late := &d.story, d.guests[0], d.guests[d.options.Players], d.guests[d.options.Players+1]
	s.Cut.Tail, s.Cut.BackMS = cut.events["StreamResumed"] > 0, console.Milliseconds(cut.back.Sub(cut.lost))
	s.expect(s.Cut.Tail, "the player with the lost connection did not resume")
	s.Slow.HeldMS, s.Slow.Synced, s.Slow.Equal = d.blockTime().Milliseconds(), slow.events["Synced"], slow.hash == s.hash
	s.expect(s.Slow.Synced > 1, "the slow spectator was not resynced from a keyframe")
	s.Late.LiveMS, s.Late.Equal = console.Milliseconds(late.synced.Sub(s.Late.since)), late.hash == s.hash
	s.expect(!late.synced.IsZero(), "the late joiner never caught up")
}

// concludeDesync checks the corrupted player and the bundle of the server.
func (d *networkDemo) concludeDesync(g *netGuest) (err error) {
	s := &d.story
	s.Desync.Healed = g.healed
	s.expect(g.events["Desynced"] == 1 && g.events["Healed"] == 1, "the corrupted player saw %d desyncs and healed %d times", g.events["Desynced"], g.events["Healed"])
	if s.Explained.Bundle, err = d.bundle(); err != nil {
		return err
	}
	if err := s.explain(); err != nil {
		return err
	}
	e := s.Explained.text
	s.Desync.Tick = e.Tick
	if len(e.Fields.List) == 0 {
		return fmt.Errorf("%s: the states in it do not differ", s.Explained.Bundle)
	}
	s.Desync.Path, s.Desync.Want, s.Desync.Got = e.Fields.List[0].Path, e.Fields.List[0].A, e.Fields.List[0].B
	s.expect(gameset.SectionOf(s.Desync.Path) == gameset.SectionOf(s.Planted.Path), "the first field that differs is %s", s.Desync.Path)
	return nil
}

func (s *networkStory) print(w io.Writer) {
	line := console.NewWrappingLiner(w)
	line("match", "%d bots over links with %v: %s with %s, %s sent", s.Match.Players, playerLink, console.Count(s.Match.Ticks, "tick"), console.Count(int64(s.Match.Commands), "command"), console.Size(int64(s.Match.BytesOut)))
	line("", "checksum %s at the end, %s", s.Match.Checksum, s.ended)
	line("late join", "at tick %d: live after %.0f ms", s.Late.Tick, s.Late.LiveMS)
	line("cut", "player 0 lost its connection at tick %d: back after %.0f ms, by the tail alone", s.Cut.Tick, s.Cut.BackMS)
	line("slow", "a spectator received nothing for %d ms: resynced by %s", s.Slow.HeldMS, console.Count(s.Slow.Synced-1, "state"))
	line("planted", "in the copy of player %d, from tick %d on: a bit of %s", s.Planted.Player, s.Planted.Tick, s.Planted.Path)
	line("desync", "found at tick %d, healed by the state of tick %d and the records after it", s.Desync.Tick, s.Desync.Healed)
	console.NewLiner(w)("replay", "%s", s.Replay)
	s.printEnd(w, s.Replay)
}
