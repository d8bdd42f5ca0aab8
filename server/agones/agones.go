// Package agones tells the sidecar of Agones what a game server does: that it lives, is ready, is in use, or has ended.
//
// The sidecar has a gateway for HTTP on loopback, at the port that Agones puts into [PortVariable]. A [Sidecar] looks at the
// server each [Period] and calls
//
//	POST /health    while the server answers these looks; one that stops answering is removed by Agones
//	POST /ready     when the server could start a match and nobody uses it, again after each use
//	POST /allocate  when somebody uses it, so that Agones does not remove it to have fewer
//	POST /shutdown  at the end
//
// A call that fails is made again, since the sidecar can start later than the server.
package agones

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// PortVariable is the variable of the environment in which Agones gives a game server the port of its sidecar.
const PortVariable = "AGONES_SDK_HTTP_PORT"

// Period is the time between two looks at the server. Agones expects a sign of health each 5 s, and misses three by default.
const Period = time.Second

// Options are what a Sidecar needs.
type Options struct {
	Port      string            // the value of PortVariable
	Ready     func() bool       // whether the server could start another match
	Used      func() bool       // whether the server has a match that somebody plays
	Log       *slog.Logger      // calls that fail, and changes of the state
	Transport http.RoundTripper // for tests; nil: HTTP without a proxy
}

// A Sidecar is told what the server does, until it is shut down.
type Sidecar struct {
	options Options
	url     string
	client  http.Client
	told    string          // ready or allocate, the last that the sidecar has taken
	failing map[string]bool // calls, so that each failure is logged once
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start begins to tell the sidecar at a port.
func Start(o Options) (*Sidecar, error) {
	port, err := strconv.ParseUint(o.Port, 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("agones: %s: got %q, want a port such as 9358", PortVariable, o.Port)
	}
	if o.Transport == nil {
		o.Transport = new(http.Transport)
	}
	s := &Sidecar{
		options: o, url: fmt.Sprintf("http://localhost:%d/", port),
		client: http.Client{Transport: o.Transport, Timeout: 2 * Period}, failing: make(map[string]bool),
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.run(ctx) })
	return s, nil
}

func (s *Sidecar) run(ctx context.Context) {
	tick := time.NewTicker(Period)
	defer tick.Stop()
	for {
		s.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look tells the sidecar how the server is now.
func (s *Sidecar) look(ctx context.Context) {
	used, ready := s.options.Used(), s.options.Ready() // first: a server that does not answer is not healthy
	s.call(ctx, "health")
	state := s.told
	switch {
	case used:
		state = "allocate"
	case ready:
		state = "ready"
	}
	if state != s.told && s.call(ctx, state) {
		s.options.Log.Info("agones", "told", state)
		s.told = state
	}
}

// Shutdown tells the sidecar that the server has ended, so that Agones removes its pod. It tries until ctx ends.
func (s *Sidecar) Shutdown(ctx context.Context) error {
	s.stop()
	s.running.Wait()
	defer s.client.CloseIdleConnections()
	for !s.call(ctx, "shutdown") {
		select {
		case <-ctx.Done():
			return fmt.Errorf("agones: shutdown: %w", ctx.Err())
		case <-time.After(Period):
		}
	}
	return nil
}

// call makes a call, and reports whether the sidecar has taken it.
func (s *Sidecar) call(ctx context.Context, name string) bool {
	err := s.post(ctx, name)
	if failed := err != nil; failed != s.failing[name] && ctx.Err() == nil {
		s.failing[name] = failed
		if failed {
			s.options.Log.Warn("the sidecar of Agones does not take a call", "call", name, "err", err)
		} else {
			s.options.Log.Info("the sidecar of Agones takes a call again", "call", name)
		}
	}
	return err == nil
}

func (s *Sidecar) post(ctx context.Context, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+name, strings.NewReader("{}")) // it refuses an empty body
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("got status %d, want 200", answer.StatusCode)
	}
	return nil
}
