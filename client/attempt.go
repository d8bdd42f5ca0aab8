package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A dialed is the outcome of an attempt to connect.
type dialed struct {
	socket *socket
	url    string
	err    error
}

// A dialError says why there is no connection. Servers write some of these texts.
type dialError struct{ err error }

func (e *dialError) Error() string { return fmt.Sprintf("client: %.*s", maxText, e.err) }

func (e *dialError) Unwrap() error { return e.err }

// begin begins an attempt to connect, in a goroutine of its own.
func (s *Session) begin(ctx context.Context) {
	urls := slices.Clone(s.urls)
	result := make(chan dialed, 1)
	stagger, synced, shown := s.stagger, s.client.Simulation() != nil, append(s.client.Shown(), protocol.ShownID+s.id)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.dialing, s.cancel, s.stagger = result, cancel, 0
	go func() {
		defer cancel()
		select {
		case <-time.After(stagger):
		case <-ctx.Done():
		}
		result <- s.dialAny(ctx, urls, shown, synced)
	}()
}

// nextServer is how long a client waits for a server before it tries the next one as well.
const nextServer = 300 * time.Millisecond

// dialAny connects to one of the servers of a match: the first one, unless another one answers sooner. It tries the next one
// when one has failed, or has not answered for a while.
func (s *Session) dialAny(ctx context.Context, urls, shown []string, synced bool) dialed {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialed, len(urls))
	begun, ended := 0, 0
	next := time.NewTimer(0)
	defer next.Stop()
	var failed dialed
	for ended < len(urls) {
		select {
		case <-next.C:
			if begun == len(urls) {
				continue
			}
			url := urls[begun]
			begun++
			go func() {
				socket, err := s.dial(ctx, url, shown, synced)
				results <- dialed{socket, url, err}
			}()
			next.Reset(nextServer)
		case d := <-results:
			ended++
			if d.err == nil {
				cancel()
				go abortLate(results, begun-ended)
				return d
			}
			if failed.err == nil {
				failed = d
			}
			next.Reset(0)
		}
	}
	return failed
}

// abortLate ends the connections that come too late.
func abortLate(results <-chan dialed, n int) {
	for range n {
		if d := <-results; d.socket != nil {
			d.socket.abort()
		}
	}
}

// dial fetches the assets of the match that are not here, and connects. A client that has had a state has them all, because a
// session has one match. It shows the token and the session, see [player.Client.Shown].
func (s *Session) dial(ctx context.Context, url string, shown []string, synced bool) (*socket, error) {
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
	return dial(ctx, url, shown, &s.options)
}

// connected takes the outcome of an attempt to connect.
func (s *Session) connected(d dialed) {
	s.dialing = nil
	if d.err != nil {
		s.lose(&dialError{d.err})
		return
	}
	s.retry = false
	if s.client.Stage() != player.StageDialing {
		d.socket.abort()
		return
	}
	s.prefer(d.url)
	s.link = newLink(d.socket)
	s.client.Connected(s.now())
	s.handle()
}

// prefer makes a server the first one of the next attempt.
func (s *Session) prefer(url string) {
	for s.urls[0] != url {
		s.urls = append(s.urls[1:], s.urls[0])
	}
}

// receive gives the client a message and all others that have arrived, as many as may be unread. An error makes the client hang up.
func (s *Session) receive(b *buffer.Buffer) {
	for n := 0; ; n++ {
		if b != nil {
			s.client.Receive(s.now(), b.Bytes)
			s.handle()
			buffers.Put(b)
		}
		if n == maxUnread {
			return // before it takes one that nobody reads
		}
		select {
		case b = <-s.link.arrived:
		default:
			return
		}
	}
}
