package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
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
	Host lockstep.HostOptions

	Dir           string            // where replays and desync bundles are written; "" for nowhere
	Replays       bool              // whether anybody may list and download the replays of matches that are over
	Origins       []string          // hosts that a browser's page may come from, beside our own
	MaxMatches    int               // 1000
	GuestMatches  int               // of them, that those may begin over HTTP who are no admins but may play: none
	MaxPerAddress int               // connections of one address: 64
	IdleMatch     time.Duration     // a match that nobody is connected to ends after: 5 m; negative: never
	RetryAfter    time.Duration     // when clients may come back after a shutdown: 5 s
	MaxBundles    int               // desync bundles written about one player of a match, and about its ties: 4
	Bundled       func(path string) // called with each, beside the match, which waits for it when it ends

	// Durability says when a tick is safe on the disk. With [replay.SyncFrame]
	// nobody is told of one before; the disk is waited for beside the match.
	Durability replay.Durability

	// KeepOpen leaves the replays of matches that are over as they were written,
	// instead of compressing them.
	KeepOpen bool

	Log *slog.Logger // slog.Default()
}

func (o *Options) complete() {
	or := func(field *int, otherwise int) {
		if *field == 0 {
			*field = otherwise
		}
	}
	or(&o.MaxMatches, 1000)
	or(&o.MaxPerAddress, 64)
	or(&o.MaxBundles, 4)
	if o.IdleMatch == 0 {
		o.IdleMatch = 5 * time.Minute
	}
	if o.RetryAfter == 0 {
		o.RetryAfter = 5 * time.Second
	}
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
	Host *lockstep.HostOptions

	// Begun is called by [Server.Create] once the match runs; nil for nobody.
	Begun func(*Match)
}

// A Server hosts matches. It is an http.Handler, and safe for concurrent use.
type Server struct {
	options    Options
	log        *slog.Logger
	mux        *http.ServeMux
	metrics    *metrics
	addresses  addresses
	recordings recordings

	newFile func(path string) (file, error) // for a replay
	seals   chan struct{}                   // holds a value while a replay is being sealed
	sealing sync.WaitGroup
	closing context.Context // ends when replays are not to be sealed any more
	noSeals func()

	launching sync.WaitGroup // matches that have a name and do not run yet

	mu      sync.Mutex
	matches map[string]*Match // nil while a match is being made
	made    int               // matches made so far, to spread their ticks
	guests  int               // matches that guests have begun
	closed  bool              // no new matches
}

// New returns a Server without matches.
func New(o Options) (*Server, error) {
	o.complete()
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	s := &Server{options: o, log: o.Log, matches: make(map[string]*Match), seals: make(chan struct{}, 1)}
	s.newFile = func(path string) (file, error) { return replay.Create(path) }
	s.closing, s.noSeals = context.WithCancel(context.Background())
	s.addresses = addresses{max: o.MaxPerAddress, known: make(map[netip.Prefix]*address)}
	s.recordings = recordings{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)}
	s.metrics = newMetrics(s)
	s.mux = s.routes()
	return s, nil
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// Create begins a match. Its clock starts at once. With an error there is no match
// and no file of it.
func (s *Server) Create(spec MatchSpec) (*Match, error) {
	if !nameForm.MatchString(spec.Name) {
		return nil, fmt.Errorf("%w: got %q", ErrName, spec.Name)
	}
	if t, ok := s.options.Authorizer.(*Tokens); ok && t.Players() < int(spec.Settings.Players) {
		return nil, fmt.Errorf("%w: got %d, want %d", ErrTooFew, t.Players(), spec.Settings.Players)
	}
	m := s.newMatch(spec)
	if err := s.launch(m, m.begin, func() { m.abandon(m.path) }); err != nil {
		return nil, err
	}
	m.begun()
	return m, nil
}

func (s *Server) newMatch(spec MatchSpec) *Match {
	return &Match{
		server: s, spec: spec, inbox: make(chan input, inboxSize), done: make(chan struct{}),
		conns: make(map[lockstep.PeerID]*conn), bundles: make(map[lockstep.Player]int),
	}
}

// launch reserves the match's name, calls prepare, and starts the match's
// goroutine. If the server was shut down meanwhile, it calls undo and returns
// [ErrShutdown]. Shutdown waits until launch returns.
func (s *Server) launch(m *Match, prepare func(phase time.Duration) error, undo func()) error {
	phase, err := s.reserve(m.spec.Name, m.spec.Settings.TickRate)
	if err != nil {
		return err
	}
	defer s.launching.Done()
	running := false
	defer func() { // also if the game panics
		if !running {
			s.forget(m)
		}
	}()
	if err := prepare(phase); err != nil {
		return err
	}
	m.publish()
	if running = s.run(m); !running {
		undo()
		return ErrShutdown
	}
	return nil
}

// run starts a match's goroutine, unless the server has been shut down.
func (s *Server) run(m *Match) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.matches[m.spec.Name] = m
	go m.run()
	return true
}

// begun tells whoever asked for the match that it runs.
func (m *Match) begun() {
	if m.spec.Begun != nil {
		m.spec.Begun(m)
	}
}

// reserve takes a name for a match that is about to be made, and returns when
// its ticks are.
func (s *Server) reserve(name string, tickRate uint16) (phase time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, taken := s.matches[name]
	switch {
	case s.closed:
		return 0, ErrShutdown
	case taken:
		return 0, fmt.Errorf("%w: %q", ErrExists, name)
	case len(s.matches) >= s.options.MaxMatches:
		return 0, fmt.Errorf("%w: %d", ErrFull, s.options.MaxMatches)
	}
	s.matches[name] = nil
	s.launching.Add(1)
	phase = s.phase(tickRate)
	s.made++
	return phase, nil
}

// phase returns by how much the ticks of the next match come before those of
// the first: successive matches divide the period by the golden ratio, which
// keeps any number of them spread.
func (s *Server) phase(tickRate uint16) time.Duration {
	period := time.Second / time.Duration(max(tickRate, 1))
	const golden = 2654435769 // 2^32 / φ
	return time.Duration(uint64(period) * uint64(uint32(s.made)*golden) >> 32)
}

// begin makes the host, and the replay that it writes.
func (m *Match) begin(phase time.Duration) error {
	var id lockstep.MatchID
	rand.Read(id[:])
	h, err := m.spec.Game.NewHeader(id, m.spec.Settings, m.spec.Config)
	if err != nil {
		return err
	}
	var log lockstep.Log = lockstep.Tee()
	if dir := m.server.options.Dir; dir != "" {
		if err := m.openReplay(dir, id); err != nil {
			return err
		}
		log = m.writer
	}
	m.epoch = time.Now().Add(-phase)
	if m.host, err = lockstep.NewHost(m.spec.Game, h, log, m.hostOptions()); err != nil {
		m.abandon(m.path)
	}
	return err
}

// abandon removes the replay of a match that could not begin.
func (m *Match) abandon(path string) {
	if m.writer == nil {
		return
	}
	m.closeReplay() // its error does not matter any more
	os.Remove(path)
}

// hostOptions are the match's policies, and what the server does for it.
func (m *Match) hostOptions() lockstep.HostOptions {
	o := m.server.options.Host
	if m.spec.Host != nil {
		o = *m.spec.Host
	}
	o.Authorize = func(token string) (lockstep.Grant, error) {
		return m.server.options.Authorizer.Authorize(token, m.spec.Name)
	}
	o.AwaitCommit = m.writer != nil && m.server.options.Durability == replay.SyncFrame
	o.Random = func(b []byte) { rand.Read(b) }
	o.Observe = m.observe
	o.Evidence = m.evidence
	return o
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
	defer context.AfterFunc(ctx, s.noSeals)()
	defer s.noSeals()
	all := s.Matches()
	for _, m := range all {
		go m.Do(ctx, func(h *lockstep.Host) {
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
