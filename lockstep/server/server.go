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

// Errors of [Server.Create].
var (
	ErrName     = errors.New("server: want a match name of 1 to 64 letters, digits, dots, dashes and underscores")
	ErrExists   = errors.New("server: there is a match of that name")
	ErrFull     = errors.New("server: there are as many matches as allowed")
	ErrTooFew   = errors.New("server: fewer tokens than players")
	ErrShutdown = errors.New("server: shutting down")
)

// Options are a Server's. Zero fields have the defaults named.
type Options struct {
	// Authorizer says what tokens entitle to. Nil knows none.
	Authorizer Authorizer

	// NewMatch makes the spec of a match that an admin asks for over HTTP, from
	// the request's body. Nil allows none.
	NewMatch func(body io.Reader) (MatchSpec, error)

	// Host are the policies of each match, unless its spec has its own.
	Host host.Options

	Dir                string            // where replays and desync bundles are written; "" for nowhere
	Replays            bool              // whether anybody may list and download the replays of matches that are over
	Origins            []string          // hosts that a browser's page may come from, beside our own
	AllowedHosts       []string          // names of ours, besides those of the loopback and the addresses that connections come to
	TrustedProxies     []netip.Prefix    // addresses of proxies before the server, whose X-Forwarded-For says who asks
	MaxMatches         int               // 1000
	GuestMatches       int               // of them, that those may begin over HTTP who are no admins but may play: none
	MaxPerAddress      int               // connections of one address, where a guest's makes room for one with a token; and those that it may open a second (64 at least): 64
	MaxUnauthenticated int               // of one address, that have not said who they are; the oldest makes room: 8
	Descriptors        int               // files and sockets that the process may have open; a quarter is left to players: what the system says
	IdleMatch          time.Duration     // a match that nobody is connected to ends after: 5 m; negative: never
	RetryAfter         time.Duration     // when clients may come back after a shutdown: 5 s
	MaxBundles         int               // desync bundles written about one player of a match, and about its ties: 4; of a match after the first of each player four times as many
	Bundled            func(path string) // called with each, beside the match, which waits for it when it ends

	// What the matches of guests may take together, besides GuestMatches. The bots
	// are MatchSpec.Bots; the bytes are the state's in every copy that the server and
	// its bots simulate. Memory is a multiple of these bytes that depends on the game.
	GuestMatchesPerAddress int   // 2
	GuestBots              int   // 32; negative: none
	GuestStateBytes        int64 // 4 MiB
	GuestDiskBytes         int   // by which their replays grow in a day; beyond it guests begin no match: 1 GiB

	// MatchDiskBytes is how large the replay of a match may become: then the match
	// ends, and its replay is complete. All desync bundles of the match together have
	// as many bytes. 4 GiB; negative: any size.
	MatchDiskBytes int64

	// Durability says when a tick is safe on the disk. With [replay.SyncFrame]
	// nobody is told of one before; the disk is waited for beside the match.
	Durability replay.Durability

	// KeepOpen leaves the replays of matches that are over as they were written,
	// instead of compressing them.
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
	o.RetryAfter = cmp.Or(o.RetryAfter, 5*time.Second)
	if o.Authorizer == nil {
		o.Authorizer = AnyOf()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// A MatchSpec says what match to host.
type MatchSpec struct {
	Name     string
	Game     *lockstep.Game
	Settings lockstep.Settings
	Config   any // a pointer to the game's configuration

	// Host are the match's policies; nil for the server's.
	Host *host.Options

	// Bots is how many seats programs of ours take, each with a copy of the match.
	// They are counted where a guest begins it.
	Bots int

	// Begun is called by [Server.Create] once the match runs; nil for nobody.
	Begun func(*Match)

	guest *guestLoad // nil unless a guest has begun it
}

// A Server hosts matches. It is an http.Handler, and safe for concurrent use.
type Server struct {
	options    Options
	log        *slog.Logger
	mux        *http.ServeMux
	hosts      []string // AllowedHosts, as hostName writes them
	metrics    *metrics
	entrance   entrance[*conn]
	members    membership
	sockets    entrance[*socket]
	watchers   entrance[*conn] // WebSockets of spectators
	connects   *budgets[netip.Prefix]
	sent       *budgets[netip.Prefix] // bytes, to those who are no players
	reads      *budgets[netip.Prefix]
	frames     *budgets[netip.Prefix]
	guesses    *budgets[netip.Prefix]
	guestTries *budgets[netip.Prefix]
	guestDisk  *budgets[struct{}] // bytes, of all guests' replays
	recordings recordings
	within     inside
	revoked    revocations

	newFile func(path string) (file, error) // for a replay
	seals   chan struct{}                   // holds a value while a replay is being sealed
	sealing sync.WaitGroup
	closing context.Context // ends when replays are not to be sealed any more
	noSeals func()

	launching sync.WaitGroup // matches that have a name and do not run yet

	mu      sync.Mutex
	matches map[string]*Match // nil while a match is being made
	made    int               // matches made so far, to spread their ticks
	guests  map[*guestLoad]struct{}
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
	s := &Server{options: o, log: o.Log, matches: make(map[string]*Match), guests: make(map[*guestLoad]struct{}), seals: make(chan struct{}, 1)}
	s.newFile = func(path string) (file, error) { return replay.Create(path) }
	s.closing, s.noSeals = context.WithCancel(context.Background())
	s.members = membership{each: o.MaxPerAddress, inside: make(map[netip.Prefix][]*conn)}
	s.connects = newBudgets[netip.Prefix](connectsAtOnce*max(leastConnects, o.MaxPerAddress), connectSpan)
	share := max(o.Descriptors/descriptorShares, 1)
	s.entrance = entrance[*conn]{all: min(max(maxUnauthenticated, o.MaxUnauthenticated), share)}
	s.sockets = entrance[*socket]{all: min(max(maxSockets, o.MaxPerAddress), share)}
	s.watchers = entrance[*conn]{all: share}
	s.sent = newBudgets[netip.Prefix](maxSent, time.Second)
	s.reads = newBudgets[netip.Prefix](maxReads, time.Second)
	s.frames = newBudgets[netip.Prefix](maxAddressFrames, time.Minute)
	s.guesses = newBudgets[netip.Prefix](maxGuesses, guessSpan)
	s.guestTries = newBudgets[netip.Prefix](maxGuestTries, guestTrySpan)
	s.guestDisk = newBudgets[struct{}](o.GuestDiskBytes, guestDiskSpan)
	s.recordings = recordings{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)}
	s.metrics = newMetrics(s)
	for _, h := range o.AllowedHosts {
		s.hosts = append(s.hosts, hostName(h))
	}
	s.mux = s.routes()
	s.newInside()
	return s, nil
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = refusing{w}
	if !s.hostAllowed(r) {
		s.metrics.turned.WithLabelValues("host").Inc()
		http.Error(w, "the host that the request names is not served here", http.StatusForbidden)
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

// Shutdown ends all matches: clients are told when to come back, and replays
// are completed. It returns when that is done, or with ctx's error. Matches are
// ended concurrently, so that a busy one does not delay the rest. A match that is
// being created is not begun. Then replays are sealed until ctx ends; those that
// are left stay as they were written.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.within.close()
	defer context.AfterFunc(ctx, s.noSeals)()
	defer s.noSeals()
	defer s.within.server.Close()
	all := s.Matches()
	for _, m := range all {
		go m.Do(ctx, func(h *host.Host) {
			h.Shutdown(m.now(), lockstep.Time(s.options.RetryAfter.Microseconds()))
			h.End(m.now(), "the server was shut down")
		})
	}
	launched := make(chan struct{})
	go func() {
		s.launching.Wait()
		close(launched)
	}()
	ends := []<-chan struct{}{launched}
	for _, m := range all {
		ends = append(ends, m.done)
	}
	for _, end := range ends {
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.sealing.Wait() // which ctx ends
	return nil
}
