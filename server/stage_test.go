//go:build !js

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/loglines"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

func TestMain(m *testing.M) {
	testenv.Overlap(12)
	testenv.SmallHeaps()
	goleak.VerifyTestMain(m)
}

const tokenList = `
# role    seat name  match token
player    0    ada   -     ada-ada-ada-ada-ada
player    1    bob   -     bob-bob-bob-bob-bob
spectator -    press -     press-press-press-press
admin     -    ops   -     ops-ops-ops-ops-ops-ops
`

const (
	ada   = "ada-ada-ada-ada-ada"
	bob   = "bob-bob-bob-bob-bob"
	press = "press-press-press-press"
	ops   = "ops-ops-ops-ops-ops-ops"
)

// A setup describes a stage. Its zero value is one match "duel" of the minimal game, with two seats at 20 ticks a
// second, on a real socket.
type setup struct {
	options  server.Options
	host     host.Options
	settings func(*lockstep.Settings)
	rules    func(*lockstep.Rules[minimal.World, minimal.Config])
	tokens   string // tokenList if empty
	pipes    bool   // connections in memory, for a bubble with a clock of its own
	config   minimal.Config
	newFile  func(path string) (server.File, error) // for replays, if not nil

	interrupted string         // the replay of the match, to resume
	from        *replay.Origin // where the match begins
	reserved    []string       // MatchSpec.Players
	log         *slog.Logger   // in place of the stage's, if not nil
}

// slowly are settings with which hours of virtual time cost few ticks, even while the match is paused.
func slowly(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(2) }

// A stage is a server with one match.
type stage struct {
	server *server.Server
	match  *server.Match
	game   *lockstep.Game
	dir    string
	log    *logWriter
	host   string // "address:port"
	client *http.Client
	pipes  *memoryListener // nil with real sockets
	stop   func()          // ends all of it, once
}

// coins is how many a stage's match has: few, because each tick of each client looks at all.
const coins = 60

func newStage(t *testing.T, x setup) *stage {
	t.Helper()
	if x.tokens == "" {
		x.tokens = tokenList
	}
	tokens, err := server.ReadTokens(strings.NewReader(x.tokens))
	if err != nil {
		t.Fatal(err)
	}
	rules := minimal.Rules()
	if x.rules != nil {
		x.rules(&rules)
	}
	s := &stage{game: lockstep.MustGame(rules), dir: t.TempDir(), log: &logWriter{}}
	o := x.options
	if o.Authorizer == nil {
		o.Authorizer = tokens
	}
	o.Dir, o.Host, o.Log = s.dir, x.host, slog.New(slog.NewTextHandler(s.log, nil))
	if x.log != nil {
		o.Log = x.log
	}
	if o.Descriptors == 0 {
		o.Descriptors = 1 << 20 // on every machine
	}
	o.AllowedHosts = append(o.AllowedHosts, "server") // of connections in memory
	if s.server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	if x.newFile != nil {
		s.server.SetNewFile(x.newFile)
	}
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	settings.CheckEvery = 10
	if x.settings != nil {
		x.settings(&settings)
	}
	if x.config == (minimal.Config{}) {
		x.config = minimal.Config{Size: 50, Coins: coins}
	}
	if x.interrupted != "" {
		s.dir = filepath.Dir(x.interrupted)
		if s.match, err = s.server.Resume(x.interrupted, server.MatchSpec{Game: s.game}); err != nil {
			t.Fatal(err)
		}
		s.listen(t, x.pipes)
		return s
	}
	spec := server.MatchSpec{Name: "duel", Game: s.game, Settings: settings, Config: &x.config}
	if x.from != nil {
		spec = server.MatchSpec{Name: "duel", Game: s.game, From: x.from, Players: x.reserved}
	}
	s.match, err = s.server.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	s.listen(t, x.pipes)
	return s
}

// listen serves HTTP until the test is over.
func (s *stage) listen(t *testing.T, pipes bool) {
	transport := &http.Transport{}
	var l net.Listener
	if pipes {
		s.pipes = newMemoryListener()
		l, s.host = s.pipes, "server.localhost"
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return s.pipes.dial() }
	} else {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		s.host = l.Addr().String()
	}
	s.client = &http.Client{Transport: transport}
	web := server.HTTPServer("", s.server)
	served := make(chan struct{})
	go func() {
		defer close(served)
		web.Serve(s.server.Listener(l))
	}()
	s.stop = func() {
		s.stop = func() {}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		transport.CloseIdleConnections()
		if err := web.Shutdown(ctx); err != nil {
			t.Errorf("HTTP shutdown: %v", err)
		}
		<-served
	}
	t.Cleanup(func() {
		s.stop()
		for _, problem := range loglines.Problems(s.log.String()) {
			t.Errorf("a line of the log %s", problem)
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
}

// inBubble runs a test with connections in memory and a clock that moves only when all goroutines wait. So minutes
// take milliseconds, and measurements do not depend on the machine.
func inBubble(t *testing.T, x setup, f func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x.pipes = true
		x.options.KeepOpen = true
		f(t, newStage(t, x))
	})
}

// virtually runs a test as inBubble does, which makes its own stages, with pipes. They may seal their replays.
func virtually(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	compressed.Do(func() {
		s := newStage(t, setup{})
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		s.stop()
		verifyFile(t, s.match.ReplayPath(), s.game)
	})
	synctest.Test(t, f)
}

// compressed lets a match use the compressor and the decompressor of replays, once. All matches of the program share them,
// so that a bubble must not make their channels.
var compressed sync.Once

// A memoryListener accepts connections in memory.
type memoryListener struct {
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	broken atomic.Bool // no connection can be made
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *memoryListener) dial() (net.Conn, error) { return l.dialFrom("127.0.0.1:1") }

// dialFrom connects from an "address:port".
func (l *memoryListener) dialFrom(address string) (net.Conn, error) {
	if l.broken.Load() {
		return nil, errors.New("no network")
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- pipeFrom{theirs, address}:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// A pipeFrom is a connection with a given remote address.
type pipeFrom struct {
	net.Conn
	address string
}

func (c pipeFrom) RemoteAddr() net.Addr { return &net.UnixAddr{Name: c.address, Net: "unix"} }

// from returns the stage as seen from an address. It needs a bubble.
func (s *stage) from(t *testing.T, address string) *stage {
	there := *s
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return s.pipes.dialFrom(address + ":1") }}
	there.client = &http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	return &there
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// logWriter keeps the server's log.
type logWriter struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// forget empties the log.
func (w *logWriter) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = bytes.Buffer{}
}

func (w *logWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (s *stage) url() string { return "ws://" + s.host + "/matches/duel/play" }

// do calls f in the match's goroutine.
func (s *stage) do(t *testing.T, f func(*host.Host)) {
	t.Helper()
	if err := s.match.Do(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// stats returns the match's counters, and checks its bounds.
func (s *stage) stats(t *testing.T) (stats host.Stats) {
	t.Helper()
	s.do(t, func(h *host.Host) {
		stats = h.Stats()
		if err := h.Info().CheckBounds(4 << 20); err != nil {
			t.Error(err)
		}
	})
	return stats
}

func (s *stage) files(t *testing.T, pattern string) []string {
	t.Helper()
	live, err := filepath.Glob(filepath.Join(s.dir, "live", pattern))
	names, err2 := filepath.Glob(filepath.Join(s.dir, pattern))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Base(name) == "live" })
	return append(live, names...)
}

// patience is how long a test waits for what must come; it is no measure. In a
// bubble it costs nothing.
const patience = 5 * time.Minute

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

// players returns n tokens of players, one for each seat, as a list and as a slice.
func players(n int) (list string, tokens []string) {
	for i := range n {
		tokens = append(tokens, fmt.Sprintf("player-%02d-player-%02d", i, i))
		list += fmt.Sprintf("player %d p%d - %s\n", i, i, tokens[i])
	}
	return list, tokens
}
