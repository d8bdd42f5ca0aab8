package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// Subprotocol is the WebSocket subprotocol that a client must offer.
const Subprotocol = "samestep.v1"

// Errors of [Server.Create].
var (
	ErrName     = errors.New("server: want a match name of 1 to 64 letters, digits, dots, dashes and underscores")
	ErrExists   = errors.New("server: a match of that name exists")
	ErrFull     = errors.New("server: too many matches")
	ErrShutdown = errors.New("server: shutting down")
)

// A Server runs matches. It is an http.Handler, and safe for concurrent use.
type Server struct {
	options Options                // its limits are those of the beginning, see limits
	limits  atomic.Pointer[Limits] // see SetLimits
	log     *slog.Logger
	mux     *http.ServeMux
	others  http.Handler // see HandleOtherSockets; or nil
	hosts   []string     // AllowedHosts, as hostName writes them
	metrics *metrics

	unauthenticated connLimit[*conn]
	authenticated   addressLimit
	sockets         connLimit[*socket] // that are not WebSockets
	silent          connLimit[*socket] // on trial, and have sent nothing
	onTrial         connLimit[*socket] // on trial, and have sent something
	reservedConns   connLimit[*conn]   // unauthenticated WebSockets that have shown a valid token, where others crowd
	paths           connLimit[*path]   // that have not named their connection
	datagrams       atomic.Pointer[datagramServer]
	spectators      connLimit[*conn] // WebSockets
	connects        *budgets[netip.Prefix]
	trials          *budgets[netip.Prefix] // connections on trial that are listened to
	kept            *budgets[netip.Prefix] // of those who show a token
	keptEach        *budgets[reservation]  // the same, of each of them
	handshakes      *budgets[netip.Prefix] // of QUIC
	halfOpen        halfOpen
	sent            *budgets[netip.Prefix] // bytes, over connections that are not WebSockets
	reads           *budgets[netip.Prefix]
	frames          *budgets[netip.Prefix]
	guesses         *budgets[netip.Prefix]
	guestTries      *budgets[netip.Prefix]
	guestDisk       *budgets[struct{}] // bytes, of all guests' replays
	replays         replayFolder
	assets          assetStore
	pipes           *pipeListener
	revoked         revocations
	keeper          *keeper
	sweep           *time.Timer // of bans and revocations; nil without Denials
	creations       creations

	refusals    refusalLog
	turned      map[string]*refusalLog // by reason; never changed
	storage     storage
	operations  operations
	newFile     func(path string) (file, error) // for a replay
	seals       chan struct{}                   // holds a value while a replay is being sealed
	sealing     sync.WaitGroup
	sealCtx     context.Context // ends when no more replays are sealed
	stopSealing func()

	launching  sync.WaitGroup // matches that have a name and do not run yet, and the rest of recoveries
	comparing  chan struct{}  // holds a value while matches are resumed, or the beginning of one is simulated
	recoveries recoveries

	mu      sync.Mutex
	matches map[string]*Match // nil while a match is being created
	made    int               // matches created so far, to spread their ticks
	past    []making          // of the latest matches that have left
	guests  map[*guestUsage]struct{}
	closed  bool // no new matches, and those that are launching do not start

	draining bool // no new matches
}

// match returns the match of a name, or nil.
func (s *Server) match(name string) *Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.matches[name]
}

// logOf returns the log of a match with a name from outside, or of what concerns one that may be there.
func (s *Server) logOf(name string) *slog.Logger {
	s.mu.Lock()
	m, v := s.matches[name], s.recoveries.pending[name]
	if f := s.recoveries.failed[name]; v == nil && f != nil {
		v = f.view
	}
	s.mu.Unlock()
	id := ""
	of, elsewhere := s.options.Replicator.(interface{ MatchID(name string) string })
	switch {
	case m != nil:
		return m.logger
	case v != nil:
		id = v.Match
	case elsewhere:
		id = of.MatchID(name)
	}
	return logged.Match(s.log, wsmatch.Clip(name), id)
}

// isClosed reports whether Shutdown was called.
func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// recovering reports whether the match of a name is recovering, and about how long a client should wait for it.
func (s *Server) recovering(name string) (wait time.Duration, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recoveries.wait(name)
}

// failed returns the view of a match of a name that could not be resumed, or that hangs; or nil.
func (s *Server) failed(name string) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.matches[name]; m != nil && m.hangs() {
		return m.view.Load()
	}
	if f := s.recoveries.failed[name]; f != nil {
		return f.view
	}
	return nil
}

// requested returns the match that the path names. If there is none that could answer, it answers the request and returns nil.
func (s *Server) requested(w http.ResponseWriter, r *http.Request) *Match {
	name := r.PathValue("name")
	m := s.match(name)
	if m == nil || m.hangs() {
		if wait, ok := s.recovering(name); ok {
			seconds := strconv.Itoa(int(wait / time.Second))
			w.Header().Set("Retry-After", seconds)
			fail(w, codeRecovering, "the match is recovering, come back in "+seconds+" s")
			return nil
		}
		if s.failed(name) != nil {
			w.Header().Set("Retry-After", strconv.Itoa(int(longestWait/time.Second)))
			fail(w, codeRecovering, "the match has failed; an admin can see why, and may have it tried again")
			return nil
		}
		fail(w, codeNoMatch, "no such match")
		return nil
	}
	return m
}

// Matches returns the matches by name.
func (s *Server) Matches() []*Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Match
	for _, m := range s.matches {
		if m != nil {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *Match) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	return all
}

func (s *Server) forget(m *Match) {
	m.server.assets.release(m.assets)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.matches[m.spec.Name] == m { // it has run
		s.keepPast(m.making())
	}
	delete(s.matches, m.spec.Name)
	delete(s.recoveries.pending, m.spec.Name)
	delete(s.guests, m.spec.guest)
}
