package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A networkDemo is the demo over real sockets: a server, and guests that come
// through bad links.
type networkDemo struct {
	options demoOptions
	game    *playable
	match   *server.Match
	url     string
	tokens  map[string]string // by name
	guests  []*netGuest
	story   networkStory
}

// A netGuest is one client of the network demo and what it was told.
type netGuest struct {
	name    string
	session *client.Session
	bot     func(*lockstep.Simulation) []any

	mu     sync.Mutex
	links  []*netsim.Conn
	events map[string]int // by name of type
	tick   lockstep.Tick
	hash   uint64
	sync   time.Time // when it was live first
	lost   time.Time
	back   time.Time
	healed lockstep.Tick
	status player.Status
}

// playerLink is the connection of each player.
var playerLink = netsim.Link{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 5000}

func runNetworkDemo(ctx context.Context, o demoOptions, bar *progress) (*networkStory, error) {
	d := &networkDemo{options: o, game: games[0], tokens: make(map[string]string)}
	stop, err := d.open()
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := d.play(ctx, bar); err != nil {
		return nil, err
	}
	if err := d.conclude(); err != nil {
		return nil, err
	}
	return &d.story, nil
}

// open starts the server and the match.
func (d *networkDemo) open() (stop func(), err error) {
	if err := d.options.makeDir(); err != nil {
		return nil, err
	}
	spec := matchSpec(d.game, matchRequest{
		Name: "demo", Players: uint8(d.options.players), Units: uint16(d.options.units), TickRate: demoTickRate, Seed: d.options.seed,
	})
	authorizer := grants{}
	add := func(name string, role protocol.Role, seat lockstep.Player) {
		d.tokens[name] = drawToken()
		authorizer[d.tokens[name]] = host.Grant{Role: role, Seat: seat, Subject: name, Name: name}
	}
	for p := range lockstep.Player(d.options.players) {
		add(playerName(p), protocol.Seated, p)
	}
	add("late", protocol.Spectator, host.AnySeat)
	add("slow", protocol.Spectator, host.AnySeat)
	s, err := server.New(server.Options{
		Authorizer: authorizer, Dir: d.options.dir, Log: slog.New(slog.DiscardHandler),
		Host: host.Options{InputDelay: 2, Lag: 2 * demoTickRate, StartPlayers: int(d.options.players)},
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

// join makes a guest come over a link, with a bot that plays, or nil.
func (d *networkDemo) join(ctx context.Context, name string, l netsim.Link, bot func(*lockstep.Simulation) []any) *netGuest {
	g := &netGuest{name: name, events: make(map[string]int), bot: bot}
	d.guests = append(d.guests, g)
	l.Seed = d.options.seed*100 + uint64(len(d.guests))
	g.session = client.Dial(ctx, d.url, d.game.Game, client.Options{
		Options: player.Options{Token: d.tokens[name], Events: g.event},
		Sample:  g.sample,
		Wrap:    through(l, g.linked),
	})
	return g
}

// linked notes a connection of the guest.
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
		if g.sync.IsZero() {
			g.sync = time.Now()
		}
	case player.ConnectionLost:
		g.lost = time.Now()
	case player.StreamResumed:
		g.back = time.Now()
	case player.Healed:
		g.healed = e.Tick
	}
}

// sample lets the bot play, and keeps where the guest has come.
func (g *netGuest) sample(c *player.Client) {
	sim := c.Simulation()
	g.mu.Lock()
	g.tick, g.hash, g.status = sim.Tick(), sim.Hash(), c.Status()
	g.mu.Unlock()
	if g.bot == nil {
		return
	}
	for _, v := range g.bot(sim) {
		if _, err := c.Submit(v); err != nil {
			return // the match is over, or too many wait for an answer
		}
	}
}

// now returns the tick that the guest has come to.
func (g *netGuest) now() lockstep.Tick {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tick
}

func (g *netGuest) count(event string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.events[event]
}

// hold lets nothing reach the guest for a time.
func (g *netGuest) hold(t time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.links {
		l.Stall(false, true)
		time.AfterFunc(t, func() { l.Stall(false, false) })
	}
}

// A deed is something that the demo does at a tick.
type deed struct {
	at lockstep.Tick
	do func() error
}

// play runs the match in real time, and does the deeds when they are due.
func (d *networkDemo) play(ctx context.Context, bar *progress) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(d.options.seconds)*time.Second+time.Minute)
	defer cancel()
	for p := range lockstep.Player(d.options.players) {
		d.join(ctx, playerName(p), playerLink, d.game.bot(p, d.options.seed))
	}
	first, last := d.guests[0], d.guests[len(d.guests)-1]
	slow := d.join(ctx, "slow", netsim.Link{}, nil)
	end := d.options.ticks()
	deeds := []deed{
		{end / 5, func() error { slow.hold(d.holdTime()); return nil }},
		{end * 2 / 5, func() error { d.story.Cut.Tick = first.now(); return first.session.Cut() }},
		{end / 2, func() error {
			d.story.Late.Tick, d.story.Late.since = d.match.View().Tick, time.Now()
			d.join(ctx, "late", playerLink, nil)
			return nil
		}},
		{end * 3 / 5, func() error { return d.corrupt(last) }},
		{end, func() error { return d.end(ctx) }},
	}
	for len(deeds) > 0 {
		tick, err := d.now(ctx)
		if err != nil {
			return err
		}
		for len(deeds) > 0 && tick >= deeds[0].at {
			if err := deeds[0].do(); err != nil {
				return err
			}
			deeds = deeds[1:]
		}
		bar.set(int64(min(tick, end)))
		time.Sleep(10 * time.Millisecond)
	}
	bar.done()
	for _, g := range d.guests {
		if err := g.session.Wait(); err != nil {
			d.story.expect(false, "%s: %v", g.name, err)
		}
	}
	<-d.match.Done()
	return nil
}

// holdTime is for how long the slow spectator gets nothing: longer than the
// server keeps records for it.
func (d *networkDemo) holdTime() time.Duration {
	return min(3*time.Second, time.Duration(d.options.seconds)*time.Second/4)
}

// now returns the last sealed tick.
func (d *networkDemo) now(ctx context.Context) (t lockstep.Tick, err error) {
	err = d.match.Do(ctx, func(h *host.Host) { t = h.Now() })
	return t, err
}

// corrupt changes a field of a guest's state behind the engine's back.
func (d *networkDemo) corrupt(g *netGuest) error {
	var err error
	if gone := g.session.Do(func(c *player.Client) {
		d.story.Planted.Path = "Rand.Lo"
		d.story.Planted.Tick = c.Simulation().Tick() + 1
		d.story.Planted.Player = c.Status().Seat
		err = c.Corrupt(d.story.Planted.Path)
	}); gone != nil {
		return gone
	}
	return err
}

// end ends the match and keeps what its true end is.
func (d *networkDemo) end(ctx context.Context) error {
	var err error
	if gone := d.match.Do(ctx, func(h *host.Host) {
		stats := h.Stats()
		d.story.Match.Ticks, d.story.Match.Checksum = h.Now(), stateHash(h.Referee())
		d.story.Match.Commands, d.story.Match.BytesOut, d.story.Match.Keyframes = stats.Commands, stats.BytesOut, stats.Keyframes
		d.story.trueHash = h.Referee().Simulation().Hash()
		err = h.End(lockstep.Time(0), "the demo is over")
	}); gone != nil {
		return gone
	}
	return err
}

// bundles returns the paths of the desync bundles beside the replay.
func (d *networkDemo) bundles() ([]string, error) {
	path := d.match.ReplayPath()
	return filepath.Glob(path[:len(path)-len(filepath.Ext(path))] + "-desync-*.zip")
}

var errNoBundle = errors.New("no desync bundle was written")
