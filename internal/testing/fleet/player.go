//go:build unix

package fleet

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A Player plays in a match, wherever it is, and remembers what it was told.
type Player struct {
	Seat lockstep.Player

	session *client.Session
	mu      sync.Mutex
	seen    Seen
}

// Seen is what a player has seen of its match.
type Seen struct {
	Tick     lockstep.Tick
	Hash     uint64 // of its state after Tick
	At       time.Time
	Hashes   map[lockstep.Tick]uint64 // of earlier states, a few a second
	Longest  time.Duration            // without a tick
	Losses   int                      // of its connection
	Desyncs  int
	Accepted map[lockstep.Sequence]lockstep.Tick
	Given    int             // commands
	Held     map[string]bool // reasons of the server for which the match stood still
}

// Join joins a match at all servers of the fleet, the first one given first. bot, which may be nil, plays.
func (f *Fleet) Join(ctx context.Context, g *lockstep.Game, match string, seat int, bot lockstep.Bot, urls []string) *Player {
	p := &Player{Seat: lockstep.Player(seat), seen: Seen{Accepted: make(map[lockstep.Sequence]lockstep.Tick), Held: make(map[string]bool), Hashes: make(map[lockstep.Tick]uint64)}}
	var sockets []string
	for _, url := range urls {
		sockets = append(sockets, strings.Replace(url, "http", "ws", 1)+"/matches/"+match+"/play")
	}
	o := client.Options{Servers: sockets[1:], Sample: func(c *player.Client) { p.sample(c, bot) }, Handle: p.handle}
	if seat >= 0 {
		o.Token = Token(seat)
	}
	p.session = client.Dial(ctx, sockets[0], g, o)
	return p
}

// hashEvery is how many ticks there are from one of Seen.Hashes to the next.
const hashEvery = 7

// sample looks at a new state.
func (p *Player) sample(c *player.Client, bot lockstep.Bot) {
	sim := c.Simulation()
	if bot != nil {
		for _, value := range bot(sim) {
			if _, err := c.Submit(value); err == nil {
				p.mu.Lock()
				p.seen.Given++
				p.mu.Unlock()
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.seen.At.IsZero() {
		p.seen.Longest = max(p.seen.Longest, now.Sub(p.seen.At))
	}
	p.seen.Tick, p.seen.Hash, p.seen.At = sim.Tick(), sim.Hash(), now
	if p.seen.Tick%hashEvery == 0 {
		p.seen.Hashes[p.seen.Tick] = p.seen.Hash
	}
}

// handle takes an event.
func (p *Player) handle(_ *player.Client, event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case lockstep.Receipt:
		if e.Reason == lockstep.Accepted {
			p.seen.Accepted[e.Sequence] = e.Tick
		}
	case player.Renumbered:
		if tick, ok := p.seen.Accepted[e.From]; ok {
			delete(p.seen.Accepted, e.From)
			p.seen.Accepted[e.To] = tick
		}
	case player.Desynced, player.Mismatch:
		p.seen.Desyncs++
	case player.Held:
		if e.Reason != "" {
			p.seen.Held[e.Reason] = true
		}
	case player.ConnectionLost:
		p.seen.Losses++
	}
}

// Seen returns what the player has seen so far.
func (p *Player) Seen() Seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seen
	s.Accepted, s.Held, s.Hashes = maps.Clone(p.seen.Accepted), maps.Clone(p.seen.Held), maps.Clone(p.seen.Hashes)
	return s
}

// Measure begins a new measurement of Seen.Longest and Seen.Held.
func (p *Player) Measure() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Longest = 0
	clear(p.seen.Held)
}

// Session returns the id of the session, which the logs have.
func (p *Player) Session() string { return p.session.ID() }

// Done is closed when the session has ended.
func (p *Player) Done() <-chan struct{} { return p.session.Done() }

// Leave ends the session without giving up the seat.
func (p *Player) Leave() { p.session.Close() }
