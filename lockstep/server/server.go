package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// Subprotocol is the WebSocket subprotocol that a client must offer.
const Subprotocol = "samestep.v1"

// retryAfter is when clients may reconnect after a shutdown.
const retryAfter = 5 * lockstep.Second

// Errors of [Server.Create].
var (
	ErrName     = errors.New("server: want a match name of 1 to 64 letters, digits, dots, dashes and underscores")
	ErrExists   = errors.New("server: a match of that name exists")
	ErrFull     = errors.New("server: too many matches")
	ErrTooFew   = errors.New("server: fewer tokens than players")
	ErrShutdown = errors.New("server: shutting down")
)

// Options configure a [Server]. A zero field has the default that its comment names.
type Options struct {
	// Authorizer grants roles and seats for tokens. Nil refuses every token.
	Authorizer Authorizer

	// NewMatch makes the spec of a match from the body of POST /matches. Nil disables that route.
	NewMatch func(body io.Reader) (MatchSpec, error)

	// Host configures each match whose spec has no options of its own.
	Host host.Options

	Dir                string            // folder of replays and desync bundles; "" writes none
	Replays            bool              // everybody may list and download the replays of finished matches
	Origins            []string          // hosts whose pages may connect from a browser, besides the server's own
	AllowedHosts       []string          // names of the server, besides loopback names and the addresses that clients connect to
	TrustedProxies     []netip.Prefix    // proxies in front of the server; their X-Forwarded-For names the client
	MaxMatches         int               // 1000
	GuestMatches       int               // matches that players without admin rights may have started over HTTP: none
	MaxPerAddress      int               // WebSockets of one address, and connections that it may open a second (at least 64): 64
	MaxUnauthenticated int               // unauthenticated WebSockets of one address: 8
	Descriptors        int               // file descriptors that the process may have; a quarter is reserved for players: the system's limit
	IdleMatch          time.Duration     // a match without connections ends after this: 5 m; negative: never
	MaxBundles         int               // desync bundles about one player of a match, or about its ties: 4
	OnBundle           func(path string) // called with each bundle in a goroutine of its own; a match that ends waits for it

	// Limits of all matches that guests have started, besides GuestMatches. The state's bytes are those of every
	// copy that the server and its bots simulate; memory is a multiple of them that depends on the game.
	GuestMatchesPerAddress int   // 2
	GuestBots              int   // MatchSpec.Bots: 32; negative: none
	GuestStateBytes        int64 // 4 MiB
	GuestDiskBytes         int   // by which their replays grow in a day; beyond it guests start no match: 1 GiB

	// MatchDiskBytes is the largest replay of a match: at this size the match ends, and its replay is complete.
	// All desync bundles of a match together have the same limit. 4 GiB; negative: no limit.
	MatchDiskBytes int64

	// Durability says when a tick is safe on disk. With [replay.SyncFrame] no client sees a tick before that; the
	// match itself does not wait.
	Durability replay.Durability

	// KeepOpen keeps the replays of finished matches as they were written, and does not compress them.
	KeepOpen bool

	Log *slog.Logger // slog.Default()
}

func (o *Options) complete() {
	o.MaxMatches = cmp.Or(o.MaxMatches, 1000)
	o.MaxPerAddress = cmp.Or(o.MaxPerAddress, 64)
	o.MaxUnauthenticated = cmp.Or(o.MaxUnauthenticated, 8)
	o.MaxBundles = cmp.Or(o.MaxBundles, 4)
	o.Descriptors = cmp.Or(o.Descriptors, descriptors())
	o.GuestMatchesPerAddress = cmp.Or(o.GuestMatchesPerAddress, defaultGuestEach)
	o.GuestBots = max(0, cmp.Or(o.GuestBots, defaultGuestBots))
	o.GuestStateBytes = cmp.Or(o.GuestStateBytes, defaultGuestStateBytes)
	o.GuestDiskBytes = cmp.Or(o.GuestDiskBytes, defaultGuestDisk)
	o.MatchDiskBytes = cmp.Or(o.MatchDiskBytes, defaultMatchDisk)
	o.IdleMatch = cmp.Or(o.IdleMatch, 5*time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Authorizer == nil {
		o.Authorizer = AnyOf()
	}
}

// A MatchSpec describes a match to run.
type MatchSpec struct {
	Name     string
	Game     *lockstep.Game
	Settings lockstep.Settings
	Config   any // a pointer to the game's configuration

	// Host configures the match. Nil takes Options.Host.
	Host *host.Options

	// Bots is the number of seats that the server's own bots take, each with a copy of the match. It counts
	// towards Options.GuestBots if a guest starts the match.
	Bots int

	// OnStart is called by [Server.Create] and [Server.Resume] when the match runs; nil for no call.
	OnStart func(*Match)

	guest *guestUsage // nil unless a guest started it
}

// A Server runs matches. It is an http.Handler, and safe for concurrent use.
type Server struct {
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	hosts   []string // AllowedHosts, as hostName writes them
	metrics *metrics

	unauthenticated connLimit[*conn]
	authenticated   addressLimit
	sockets         connLimit[*socket] // that are not WebSockets
	spectators      connLimit[*conn]   // WebSockets
	connects        *budgets[netip.Prefix]
	sent            *budgets[netip.Prefix] // bytes, over connections that are not WebSockets
	reads           *budgets[netip.Prefix]
	frames          *budgets[netip.Prefix]
	guesses         *budgets[netip.Prefix]
	guestTries      *budgets[netip.Prefix]
	guestDisk       *budgets[struct{}] // bytes, of all guests' replays
	replays         replayFolder
	pipes           *pipeListener
	revoked         revocations

	newFile     func(path string) (file, error) // for a replay
	seals       chan struct{}                   // holds a value while a replay is being sealed
	sealing     sync.WaitGroup
	sealCtx     context.Context // ends when no more replays are sealed
	stopSealing func()

	launching sync.WaitGroup // matches that have a name and do not run yet

	mu      sync.Mutex
	matches map[string]*Match // nil while a match is being created
	made    int               // matches created so far, to spread their ticks
	guests  map[*guestUsage]struct{}
	closed  bool // no new matches
}

// New returns a Server without matches.
func New(o Options) (*Server, error) {
	o.complete()
	if err := checkProxies(o.TrustedProxies); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	s := &Server{options: o, log: o.Log, matches: make(map[string]*Match), guests: make(map[*guestUsage]struct{}), seals: make(chan struct{}, 1)}
	s.newFile = func(path string) (file, error) { return replay.Create(path) }
	s.sealCtx, s.stopSealing = context.WithCancel(context.Background())
	s.replays = replayFolder{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)}
	for _, h := range o.AllowedHosts {
		s.hosts = append(s.hosts, hostName(h))
	}
	s.limit()
	s.metrics = newMetrics(s)
	s.mux = s.routes()
	s.pipes = newPipeListener(s)
	return s, nil
}

// limit sets the limits of connections and the budgets of addresses.
func (s *Server) limit() {
	o := &s.options
	share := max(o.Descriptors/descriptorShares, 1)
	s.unauthenticated = connLimit[*conn]{max: min(max(maxUnauthenticated, o.MaxUnauthenticated), share)}
	s.sockets = connLimit[*socket]{max: min(max(maxSockets, o.MaxPerAddress), share)}
	s.spectators = connLimit[*conn]{max: share}
	s.authenticated = addressLimit{max: o.MaxPerAddress, conns: make(map[netip.Prefix][]*conn)}
	s.connects = newBudgets[netip.Prefix](connectsAtOnce*max(leastConnects, o.MaxPerAddress), connectPeriod)
	s.sent = newBudgets[netip.Prefix](maxSent, time.Second)
	s.reads = newBudgets[netip.Prefix](maxReads, time.Second)
	s.frames = newBudgets[netip.Prefix](maxAddressFrames, time.Minute)
	s.guesses = newBudgets[netip.Prefix](maxGuesses, guessPeriod)
	s.guestTries = newBudgets[netip.Prefix](maxGuestTries, guestTryPeriod)
	s.guestDisk = newBudgets[struct{}](o.GuestDiskBytes, guestDiskPeriod)
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = closeOnError{w}
	if !s.hostAllowed(r) {
		s.metrics.refused.WithLabelValues("host").Inc()
		http.Error(w, "this server does not have the host name of the request", http.StatusForbidden)
		return
	}
	s.byClient(w, r)
}

// match returns the match of a name, or nil.
func (s *Server) match(name string) *Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.matches[name]
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
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.matches, m.spec.Name)
	delete(s.guests, m.spec.guest)
}

// Shutdown ends all matches concurrently: their clients are told when to reconnect, and their replays are completed.
// A match that is being created does not start. Then Shutdown seals replays until ctx ends; the others stay as they
// were written. It returns ctx's error if a match has not ended by then.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.pipes.close()
	defer context.AfterFunc(ctx, s.stopSealing)()
	defer s.stopSealing()
	defer s.pipes.server.Close()
	launched := make(chan struct{})
	ends := []<-chan struct{}{launched}
	for _, m := range s.Matches() {
		go m.Do(ctx, func(h *host.Host) {
			h.Shutdown(m.now(), retryAfter)
			h.End(m.now(), "the server was shut down")
		})
		ends = append(ends, m.done)
	}
	go func() {
		s.launching.Wait()
		close(launched)
	}()
	for _, end := range ends {
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.sealing.Wait() // until ctx ends
	return nil
}
