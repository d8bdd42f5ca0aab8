//go:build !js

package mirror

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/server"
)

// A Server is a mirror: an http.Handler, safe for concurrent use.
type Server struct {
	options Options
	front   *server.Server // without matches: its limits
	handler http.Handler
	metrics *metrics
	finding chan struct{} // holds a value for each match that is being looked up
	assets  *assetCache

	mu      sync.Mutex
	matches map[string]*Match
	conns   map[netip.Prefix]int // WebSockets, by address
	total   int
	closed  bool
	running sync.WaitGroup // matches and connections
}

// maxFinding is the number of matches that are looked up at a time.
const maxFinding = 8

// New returns a Server that follows no match yet.
func New(o Options) (*Server, error) {
	o.complete()
	if o.Source == nil {
		return nil, errors.New("mirror: want a source of matches")
	}
	front, err := server.New(o.Front)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, front: front, finding: make(chan struct{}, maxFinding), matches: make(map[string]*Match), conns: make(map[netip.Prefix]int),
		assets: newAssetCache(),
	}
	s.metrics = newMetrics(s)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	metrics := s.metrics.handler()
	if o.Front.Authorizer != nil { // otherwise all is public here, and there is no admin
		metrics = front.Operators(metrics)
	}
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /matches/{name}", s.show)
	mux.HandleFunc("GET /matches/{name}/schemas", s.schemas)
	mux.HandleFunc("GET /matches/{name}/assets", s.listAssets)
	mux.HandleFunc("GET /assets/{sum}", s.sendAsset)
	mux.HandleFunc("GET /rules/{file}", s.sendRules)
	mux.HandleFunc("GET /matches/{name}/play", s.play)
	s.handler = front.Guard(mux)
	return s, nil
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Listener returns l with the limits of [server.Server.Listener].
func (s *Server) Listener(l net.Listener) net.Listener { return s.front.Listener(l) }

// matchName is the form of a match's name.
var matchName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// Follow returns the match of a name, and begins to follow it if it is not followed yet.
func (s *Server) Follow(ctx context.Context, name string) (*Match, error) {
	if !matchName.MatchString(name) {
		return nil, ErrNoMatch
	}
	if m, err := s.followed(name); m != nil || err != nil {
		return m, err
	}
	select {
	case s.finding <- struct{}{}:
		defer func() { <-s.finding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m, err := s.followed(name); m != nil || err != nil { // another request has found it
		return m, err
	}
	f, err := s.options.Source.find(ctx, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := s.matches[name]; {
	case m != nil:
		return m, nil
	case s.closed:
		return nil, ErrClosed
	case len(s.matches) >= s.options.MaxMatches:
		return nil, fmt.Errorf("%w: got %d", ErrFull, len(s.matches))
	}
	m, err := newMatch(s, name)
	if err != nil {
		return nil, err
	}
	s.matches[name] = m
	s.running.Go(func() { m.run(f) })
	return m, nil
}

// followed returns the match of a name if it is followed, and an error if none can be.
func (s *Server) followed(name string) (*Match, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.matches[name], nil
}

// forget removes a match that is not followed any more.
func (s *Server) forget(m *Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.matches, m.name)
}

// Status returns the status of a match, which is at most a second old, or a zero Status if the match is not followed.
func (s *Server) Status(name string) Status {
	s.mu.Lock()
	m := s.matches[name]
	s.mu.Unlock()
	if m == nil {
		return Status{}
	}
	return m.Status()
}

// all returns the matches that are followed.
func (s *Server) all() (list []*Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.matches {
		list = append(list, m)
	}
	return list
}

// Shutdown sends all spectators away, who come back to another mirror, and waits until they are gone or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, m := range s.all() {
		m.post(input{do: m.shutdown})
	}
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
		return s.front.Shutdown(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		fail(w, http.StatusServiceUnavailable, "shutting_down", "shutting down")
		return
	}
	w.Header().Set("Connection", "close")
	w.Write([]byte("ok\n"))
}

// ready answers whether another match could be followed, as /readyz of a server does.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed, matches := s.closed, len(s.matches)
	s.mu.Unlock()
	var reasons []string
	if closed {
		reasons = append(reasons, "the mirror is shutting down")
	}
	if most := s.options.MaxMatches; matches >= most {
		reasons = append(reasons, fmt.Sprintf("got %d matches, want less than %d", matches, most))
	}
	if names := s.darkMatches(); len(names) > 0 {
		reasons = append(reasons, fmt.Sprintf("nothing comes of %d matches, such as %s", len(names), names[0]))
	}
	if why := s.options.Source.away(); why != "" {
		reasons = append(reasons, why)
	}
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if len(reasons) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "not ready\n%s\n", strings.Join(reasons, "\n"))
		return
	}
	fmt.Fprintln(w, "ready")
}
