//go:build !js

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A wirePlayer plays as a program does, with the engine's client, and runs each tick as soon as it can.
type wirePlayer struct {
	session *client.Session
	value   any // the command that it gives
	every   time.Duration
	stop    chan struct{}

	// Of the session's goroutine.
	measuring  bool
	tick       lockstep.Tick // the last one that has run
	arrivals   []arrival
	sent       map[lockstep.Sequence]time.Time
	due        map[lockstep.Tick][]time.Time // when the commands that run in a tick were given
	executions []time.Duration
	commands   int
	accepted   int
	lost       int // connections
}

// newWirePlayer begins to join a match, to give the same command again and again.
func newWirePlayer(g *lockstep.Game, url, token string, value any, every time.Duration, datagrams bool) *wirePlayer {
	p := &wirePlayer{value: value, every: every, stop: make(chan struct{}), sent: map[lockstep.Sequence]time.Time{}, due: map[lockstep.Tick][]time.Time{}}
	p.session = client.Dial(context.Background(), url, g, client.Options{
		Options: player.Options{Token: token, Pacing: player.PacingOptions{AsTheyCome: true}},
		Handle:  p.event, Sample: p.sample, NoDatagrams: !datagrams, HTTP: wireHTTP,
	})
	return p
}

// await waits until the player has caught up, and has datagrams if it is to have them.
func (p *wirePlayer) await(ctx context.Context, datagrams bool) error {
	select {
	case <-p.session.Ready():
	case <-p.session.Done():
		return p.session.Wait()
	case <-ctx.Done():
		return errors.New("it did not join in time")
	}
	has := func() (has bool) {
		p.session.Do(func(c *player.Client) { has = c.Status().Datagrams })
		return has
	}
	for datagrams && !has() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("it has no datagrams")
		}
	}
	go p.give()
	return nil
}

// give gives commands until the player closes.
func (p *wirePlayer) give() {
	for wait := rand.N(p.every); ; wait = p.every {
		select {
		case <-time.After(wait):
		case <-p.stop:
			return
		}
		p.session.Do(func(c *player.Client) {
			if seq, err := c.Submit(p.value); err == nil && p.measuring {
				p.commands++
				p.sent[seq] = time.Now()
			}
		})
	}
}

// sample notes the ticks that have run.
func (p *wirePlayer) sample(c *player.Client) {
	now := time.Now()
	for p.tick < c.Tick() {
		p.tick++
		if p.measuring {
			p.arrivals = append(p.arrivals, arrival{p.tick, now})
		}
		for _, at := range p.due[p.tick] {
			p.executions = append(p.executions, now.Sub(at))
		}
		delete(p.due, p.tick)
	}
}

func (p *wirePlayer) event(c *player.Client, event any) {
	switch e := event.(type) {
	case player.Synced:
		p.tick = max(p.tick, c.Tick())
	case player.ConnectionLost:
		p.lost++
	case lockstep.Receipt:
		at, ok := p.sent[e.Sequence]
		if delete(p.sent, e.Sequence); !ok || e.Reason != lockstep.Accepted {
			return
		}
		p.accepted++
		if e.Tick <= p.tick {
			p.executions = append(p.executions, time.Since(at))
		} else {
			p.due[e.Tick] = append(p.due[e.Tick], at)
		}
	}
}

func (p *wirePlayer) measure() {
	p.session.Do(func(*player.Client) { p.measuring = true })
}

func (p *wirePlayer) close() {
	close(p.stop)
	p.session.Close()
}
