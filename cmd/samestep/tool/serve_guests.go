package tool

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A botHost lets bots join the matches of its own server, as guests.
type botHost struct {
	ctx    context.Context
	game   *playable
	log    *slog.Logger
	idle   time.Duration  // ends a match with only bots; negative: never
	server *server.Server // set before the first match

	// joining holds a value while a bot joins. They join one at a time, because a bot that computes a match from its
	// beginning takes a CPU from the live matches.
	joining chan struct{}
}

// joinTime is how long other bots wait for one that joins.
const joinTime = 2 * time.Second

// of returns a function that lets bots join a new match, and ends it when they are alone.
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

// play runs one bot until the match is over.
func (b *botHost) play(match string, number int) {
	var bot lockstep.Bot
	select {
	case b.joining <- struct{}{}:
	case <-b.ctx.Done():
		return
	}
	s := client.Dial(b.ctx, withinURL(match), b.game.Game, client.Options{
		Options: player.Options{Token: fmt.Sprintf("guest:bot%%20%d:%s", number+1, drawToken())},
		HTTP:    within(b.server),
		Handle: func(_ *player.Client, e any) {
			if e, ok := e.(player.Welcomed); ok && bot == nil {
				bot = b.game.bot(e.Seat, uint64(e.Seat)+1)
			}
		},
		Sample: func(c *player.Client) { playTurn(c, bot) },
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

// watch ends a match when only bots have been connected to it for a while.
func (b *botHost) watch(m *server.Match, bots int) {
	check := time.NewTicker(max(time.Second, b.idle/10))
	defer check.Stop()
	alone := time.Now()
	for {
		select {
		case <-m.Done():
			return
		case <-check.C:
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

// openTo also lets guests in, if there may be any.
func openTo(guests uint, a server.Authorizer) server.Authorizer {
	if guests == 0 {
		return a
	}
	return server.AnyOf(a, server.Guests{})
}

// withinURL returns the address of a match for connections within the process.
func withinURL(match string) string { return "ws://localhost/matches/" + match + "/play" }
