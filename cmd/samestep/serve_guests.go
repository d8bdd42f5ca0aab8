package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// What may be asked for over HTTP where guests may ask.
const (
	guestUnits    = 3000
	guestTickRate = 30
)

// check refuses what would cost a server too much that is open to everybody, and
// bots where they cannot join.
func (r *matchRequest) check(guests bool) error {
	switch {
	case r.Bots > 0 && !guests:
		return errors.New("a match: bots play only where guests may")
	case r.Bots > r.Players:
		return fmt.Errorf("a match: got %d bots, want at most %d, the players", r.Bots, r.Players)
	case guests && (r.Units > guestUnits || r.TickRate > guestTickRate):
		return fmt.Errorf("a match: got %d units at %d ticks a second, want at most %d at %d", r.Units, r.TickRate, guestUnits, guestTickRate)
	}
	return nil
}

// A botHost lets bots take seats of the matches of its own server, as guests do.
type botHost struct {
	ctx    context.Context
	game   *playable
	log    *slog.Logger
	idle   time.Duration  // after which a match ends that only bots are connected to; negative: never
	server *server.Server // set before the first match

	// joining holds a value while a bot joins. One at a time does, since a bot that
	// computes a match from its beginning takes a processor from the matches that run.
	joining chan struct{}
}

// joinTime is how long other bots wait for one that joins.
const joinTime = 2 * time.Second

// of returns what lets so many bots join a match that has begun, and ends it when
// they are alone.
func (b *botHost) of(bots int) func(*server.Match) {
	if bots == 0 {
		return nil
	}
	return func(m *server.Match) {
		for i := range bots {
			go b.play(m.Name(), i)
		}
		if b.idle > 0 {
			go b.watch(m, bots)
		}
	}
}

// play lets a bot play until the match is over.
func (b *botHost) play(match string, number int) {
	var think func(*lockstep.Simulation) []any
	select {
	case b.joining <- struct{}{}:
	case <-b.ctx.Done():
		return
	}
	s := client.Dial(b.ctx, withinURL(match), b.game.Game, client.Options{
		Options: player.Options{Token: fmt.Sprintf("guest:bot%%20%d:%s", number+1, drawToken())},
		HTTP:    within(b.server),
		Handle: func(_ *player.Client, e any) {
			if e, ok := e.(player.Welcomed); ok && think == nil {
				think = b.game.bot(e.Seat, uint64(e.Seat)+1)
			}
		},
		Sample: func(c *player.Client) {
			if think == nil || c.Stage() != player.StageLive {
				return
			}
			for _, v := range think(c.Simulation()) {
				if _, err := c.Submit(v); err != nil {
					return // too many wait for an answer
				}
			}
		},
	})
	select {
	case <-s.Ready():
	case <-s.Done():
	case <-time.After(joinTime):
	}
	<-b.joining
	if err := s.Wait(); err != nil && b.ctx.Err() == nil {
		b.log.Warn("a bot has left", "match", match, "err", err)
	}
}

// watch ends a match that nobody but bots has been connected to for long.
func (b *botHost) watch(m *server.Match, bots int) {
	often := time.NewTicker(max(time.Second, b.idle/10))
	defer often.Stop()
	alone := time.Now()
	for {
		select {
		case <-m.Done():
			return
		case <-often.C:
		}
		if v := m.View(); v.Stats.Players+v.Stats.Spectators > bots {
			alone = time.Now()
		} else if time.Since(alone) > b.idle {
			// The match is over if this fails.
			_ = m.End(b.ctx, fmt.Sprintf("only bots were connected for %v", b.idle))
			return
		}
	}
}

// openTo lets guests in, beside those whom the others know.
func openTo(guests uint, a server.Authorizer) server.Authorizer {
	if guests == 0 {
		return a
	}
	return server.AnyOf(a, server.Guests{})
}

// withinURL returns the address of a match for connections within the process.
func withinURL(match string) string { return "ws://localhost/matches/" + match + "/play" }
