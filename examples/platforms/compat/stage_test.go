//go:build !js

package compat_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	game  = lockstep.MustGame(platforms.Rules())
	usual = platforms.Usual(0)
)

// tokenOf returns the token of a seat.
func tokenOf(seat int) string { return fmt.Sprintf("token-of-player-%d", seat) }

// A stage is a server with one match, to which clients of the other wire come.
type stage struct {
	server *server.Server
	match  *server.Match
	log    *logWriter
	dial   func(context.Context, string, string) (net.Conn, error)
	url    string
	stop   func() // ends the server, once
}

type setup struct {
	players  uint8 // 2
	host     host.Options
	options  compat.Options
	settings func(*lockstep.Settings)
	sockets  bool // real ones, instead of connections in memory
}

func newStage(t *testing.T, x setup) *stage {
	t.Helper()
	if x.players == 0 {
		x.players = 2
	}
	var list strings.Builder
	for p := range x.players {
		fmt.Fprintf(&list, "player %d p%d - %s\n", p, p, tokenOf(int(p)))
	}
	tokens, err := server.ReadTokens(strings.NewReader(list.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{log: &logWriter{}}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	x.options.Log, x.host.AnonymousSpectators = log, true
	x.host.InputDelay = 2
	s.server, err = server.New(server.Options{
		Authorizer: tokens, Dir: t.TempDir(), Log: log, KeepOpen: true, Host: x.host, Descriptors: 1 << 20, AllowedHosts: []string{"server"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.server.HandleOtherSockets(compat.New(s.server, x.options))
	settings := lockstep.DefaultSettings(x.players)
	settings.Seed, settings.TickMicros, settings.CheckEvery, settings.KeyframeEvery = 1, lockstep.TickPeriod(60), 100, 600
	if x.settings != nil {
		x.settings(&settings)
	}
	if s.match, err = s.server.Create(server.MatchSpec{Name: "match-1", Game: game, Settings: settings, Config: &usual}); err != nil {
		t.Fatal(err)
	}
	s.listen(t, x.sockets)
	return s
}

// listen serves until the test is over.
func (s *stage) listen(t *testing.T, sockets bool) {
	var l net.Listener
	if sockets {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		s.url = "ws://" + l.Addr().String() + "/"
		s.dial = (&net.Dialer{}).DialContext
	} else {
		pipes := &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
		l, s.url, s.dial = pipes, "ws://server/", pipes.dial
	}
	web := server.HTTPServer("", s.server)
	served := make(chan struct{})
	go func() {
		defer close(served)
		web.Serve(s.server.Listener(l))
	}()
	s.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		web.Shutdown(ctx)
		<-served
	})
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
}

// do calls f in the match's goroutine.
func (s *stage) do(t *testing.T, f func(*host.Host)) {
	t.Helper()
	if err := s.match.Do(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// verify ends the match and verifies its replay. It returns how many commands it has, with those of the engine.
func (s *stage) verify(t *testing.T) (commands int) {
	t.Helper()
	s.do(t, func(h *host.Host) {
		if n := h.Stats(); n.Desyncs > 0 {
			t.Errorf("the match has %d desyncs", n.Desyncs)
		}
	})
	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	s.stop()
	b, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, game, replay.VerifyOptions{})
	if err != nil {
		t.Errorf("the replay: %v", err)
	}
	return v.Commands
}

// A memoryListener accepts connections in memory.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *memoryListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
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

func (w *logWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// address returns the HOST:PORT of a server with sockets.
func (s *stage) address() string { return strings.TrimSuffix(strings.TrimPrefix(s.url, "ws://"), "/") }
