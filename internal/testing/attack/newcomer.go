package attack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// newcomerEvery is the time between two newcomers.
	newcomerEvery = 250 * time.Millisecond

	// patience is how long a newcomer waits for the welcome, and an honest player for
	// its state. After that the server counts as having refused it.
	patience = 20 * time.Second
)

// A crowd is honest people who join, are welcomed and leave, one after the other.
type crowd struct {
	server *Server
	game   *lockstep.Game
	next   int // of the tokens
}

// A welcomes counts how newcomers were received.
type welcomes struct {
	all     int
	worst   time.Duration
	refused []string
}

// come lets newcomers join until ctx ends, and waits for the welcomes of the last ones.
func (c *crowd) come(ctx context.Context) (w welcomes) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	often := time.NewTicker(newcomerEvery)
	defer often.Stop()
	for ctx.Err() == nil {
		token := c.server.Tokens.Newcomers[c.next%newcomers]
		c.next++
		wait.Go(func() {
			took, err := c.one(context.WithoutCancel(ctx), token)
			mu.Lock()
			defer mu.Unlock()
			if w.all++; err != nil {
				w.refused = append(w.refused, err.Error())
			}
			w.worst = max(w.worst, took)
		})
		select {
		case <-often.C:
		case <-ctx.Done():
		}
	}
	wait.Wait()
	return w
}

// role returns what newcomers are in the match.
func (c *crowd) role() protocol.Role {
	if watch(c.server.Tokens.Seats()) {
		return protocol.Spectator
	}
	return protocol.Seated
}

// one joins and leaves, and returns how long the welcome took.
func (c *crowd) one(ctx context.Context, token string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	p, err := openPeer(ctx, nearClient(), c.server.URL, c.server.Match, protocol.Shown(token, protocol.SessionToken{})...)
	if err == nil {
		err = p.join(ctx, c.game, token, protocol.SessionToken{})
	}
	took := time.Since(began)
	if err != nil {
		return took, err
	}
	defer p.leave(ctx)
	if want := c.role(); p.welcome.Role != want {
		return took, fmt.Errorf("got role %d, want %d", p.welcome.Role, want)
	}
	return took, nil
}
