//go:build !js

package server_test

import (
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A testClient is a client of the stage, with the events that it received.
type testClient struct {
	*client.Session
	mu     sync.Mutex
	events []any
	stamps []time.Time
	worst  time.Duration // the longest time between two samples
	last   time.Time
}

func (s *stage) join(t *testing.T, token string, sample func(*player.Client)) *testClient {
	t.Helper()
	return s.joinWith(t, client.Options{Options: player.Options{Token: token}, Sample: sample})
}

// joinWith joins with options; it sets HTTP, and records ticks and events before it calls Sample and Handle.
func (s *stage) joinWith(t *testing.T, o client.Options) *testClient {
	t.Helper()
	g := &testClient{}
	sample, handle := o.Sample, o.Handle
	o.HTTP = s.client
	o.Handle = func(c *player.Client, e any) {
		g.heard(e)
		if handle != nil {
			handle(c, e)
		}
	}
	o.Sample = func(c *player.Client) {
		g.sampled()
		if sample != nil {
			sample(c)
		}
	}
	g.Session = client.Dial(t.Context(), s.url(), s.game, o)
	return g
}

// heard records an event.
func (g *testClient) heard(e any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events, g.stamps = append(g.events, e), append(g.stamps, time.Now())
}

// sampled records the time between two ticks.
func (g *testClient) sampled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if !g.last.IsZero() {
		g.worst = max(g.worst, now.Sub(g.last))
	}
	g.last = now
}

// gap returns the longest time between two ticks since the last call.
func (g *testClient) gap() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	worst := g.worst
	g.worst = 0
	return worst
}

// forget removes the events so far.
func (g *testClient) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events, g.stamps = nil, nil
}

// told returns the events of type E so far.
func told[E any](g *testClient) (events []E) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.events {
		if e, ok := e.(E); ok {
			events = append(events, e)
		}
	}
	return events
}

// has reports whether an event of type E was received.
func has[E any](g *testClient) bool { return len(told[E](g)) > 0 }

// wander sends the player's dot to a new place now and then.
func wander(c *player.Client) {
	if t := c.Simulation().Tick(); t%7 == 0 {
		c.Submit(&minimal.Go{X: uint16(t*31) % 50, Y: uint16(t*17) % 50})
	}
}

func (g *testClient) tick() (t lockstep.Tick) {
	g.Do(func(c *player.Client) {
		if sim := c.Simulation(); sim != nil {
			t = sim.Tick()
		}
	})
	return t
}

func (g *testClient) status() (s player.Status) {
	g.Do(func(c *player.Client) { s = c.Status() })
	return s
}
