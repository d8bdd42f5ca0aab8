package client

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A dialed is the outcome of an attempt to connect.
type dialed struct {
	socket *socket
	err    error
}

// A dialError says why there is no connection. Servers write some of these texts.
type dialError struct{ err error }

func (e *dialError) Error() string { return fmt.Sprintf("client: %.*s", maxText, e.err) }

func (e *dialError) Unwrap() error { return e.err }

// begin begins an attempt to connect, in a goroutine of its own.
func (s *Session) begin(ctx context.Context) {
	if s.attempted {
		s.urls = append(s.urls[1:], s.urls[0])
	}
	s.attempted = true
	url := s.urls[0]
	result := make(chan dialed, 1)
	stagger, synced := s.stagger, s.client.Simulation() != nil
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.dialing, s.cancel, s.stagger = result, cancel, 0
	go func() {
		defer cancel()
		select {
		case <-time.After(stagger):
		case <-ctx.Done():
		}
		socket, err := s.dial(ctx, url, synced)
		result <- dialed{socket, err}
	}()
}

// dial fetches the assets of the match that are not here, and connects. A client that has had a state has them all, because a
// session has one match.
func (s *Session) dial(ctx context.Context, url string, synced bool) (*socket, error) {
	if s.loader != nil && !synced {
		if err := s.loader.load(ctx, url); err != nil {
			return nil, err
		}
	}
	limit := dialTimeout
	if len(s.options.Servers) > 0 {
		limit = clusterDialTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return dial(ctx, url, &s.options)
}

// connected takes the outcome of an attempt to connect.
func (s *Session) connected(d dialed) {
	s.dialing = nil
	if d.err != nil {
		s.client.Disconnected(s.now(), &dialError{d.err})
		s.handle()
		return
	}
	if s.client.Stage() != player.StageDialing {
		d.socket.abort()
		return
	}
	s.link = newLink(d.socket)
	s.client.Connected(s.now())
	s.handle()
}
