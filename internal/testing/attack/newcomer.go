package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// newcomerEvery is the time between two newcomers.
	newcomerEvery = 250 * time.Millisecond

	// joinEvery is the same for those who come with the program.
	joinEvery = 500 * time.Millisecond

	// joinTime is how long those stay.
	joinTime = 300 * time.Millisecond

	// patience is how long a newcomer waits for the welcome, and an honest player for
	// its state. After that the server counts as having refused it.
	patience = 20 * time.Second
)

// A crowd is honest people who join, are welcomed and leave, one after the other.
type crowd struct {
	server *Server
	game   *lockstep.Game
	next   int // of the tokens

	program string // samestep, with which they join; "": a WebSocket of their own
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
	every, join := newcomerEvery, c.one
	if c.program != "" {
		every, join = joinEvery, c.withProgram
	}
	often := time.NewTicker(every)
	defer often.Stop()
	for ctx.Err() == nil {
		token := c.server.Tokens.Newcomers[c.next%newcomers]
		c.next++
		wait.Go(func() {
			took, err := join(context.WithoutCancel(ctx), token)
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

// withProgram is one with "samestep join", whose requests come before the WebSocket. What it takes is without the time that the player stays.
func (c *crowd) withProgram(ctx context.Context, token string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	page := "http" + strings.TrimPrefix(c.server.URL, "ws") + "/matches/" + c.server.Match
	p := exec.CommandContext(ctx, c.program, "join", "--json", "--bot", "none", "--time", joinTime.String(), page)
	p.Env = append(p.Environ(), "SAMESTEP_TOKEN="+token)
	var said strings.Builder
	p.Stderr = &said
	began := time.Now()
	out, err := p.Output()
	took := max(0, time.Since(began)-joinTime)
	if err != nil {
		return took, fmt.Errorf("samestep join: %w: %.300s", err, &said)
	}
	var sum struct{ Seat int }
	if err := json.Unmarshal(out, &sum); err != nil {
		return took, err
	}
	if seated := c.role() == protocol.Seated; seated != (sum.Seat >= 0) {
		return took, fmt.Errorf("got seat %d, want one: %t", sum.Seat, seated)
	}
	return took, nil
}
