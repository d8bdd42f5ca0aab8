//go:build !js

package mirror_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

func TestMain(m *testing.M) {
	helpBenchmark() // does not return in the processes of BenchmarkCrowd
	testenv.Overlap(8)
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come; it is no measure.
const patience = time.Minute

// listen serves a handler on a loopback port until the test is over. stop ends it at once, as a crash does.
func listen(t testing.TB, h http.Handler, limit func(net.Listener) net.Listener) (address string, stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cut := &cutListener{Listener: l, conns: map[net.Conn]bool{}}
	web := server.HTTPServer("", h)
	served := make(chan struct{})
	go func() { web.Serve(limit(cut)); close(served) }()
	stop = sync.OnceFunc(func() {
		web.Close()
		cut.cut()
		<-served
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// A cutListener can cut all of its connections.
type cutListener struct {
	net.Listener
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (l *cutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.conns[c] = true
		l.mu.Unlock()
	}
	return c, err
}

func (l *cutListener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Close()
	}
}

// An owner is a server with the match "duel", which two bots play.
type owner struct {
	game    *lockstep.Game
	server  *server.Server
	match   *server.Match
	address string
}

// bot sends its dot somewhere in every tenth tick.
func bot(seat uint16) lockstep.Bot {
	return func(s *lockstep.Simulation) []any {
		if t := uint16(s.Tick()); t%10 == seat {
			return []any{&minimal.Go{X: t * 7 % 50, Y: t * 13 % 50}}
		}
		return nil
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newOwner(t testing.TB, change func(*server.Options)) *owner {
	return newOwnerOf(t, minimal.Rules(), change)
}

func newOwnerOf(t testing.TB, rules lockstep.Rules[minimal.World, minimal.Config], change func(*server.Options)) *owner {
	o := server.Options{Dir: t.TempDir(), Log: quiet(), KeepOpen: true, Host: host.Options{AnonymousSpectators: true, MaxSpectators: 100}, Descriptors: 1 << 20}
	if change != nil {
		change(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	x := &owner{game: lockstep.MustGame(rules), server: s}
	settings := lockstep.DefaultSettings(4)
	settings.TickMicros, settings.CheckEvery, settings.Seed = lockstep.TickPeriod(40), 10, 1
	x.match, err = s.Create(server.MatchSpec{Name: "duel", Game: x.game, Settings: settings, Config: &minimal.Config{Size: 50, Coins: 500}, Bots: []lockstep.Bot{bot(0), bot(5)}})
	if err != nil {
		t.Fatal(err)
	}
	x.address, _ = listen(t, s, s.Listener)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return x
}

func newMirror(t testing.TB, o mirror.Options) (r *mirror.Server, address string, stop func()) {
	log := &logWriter{}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	o.Front.AllowedHosts = []string{"mirrors"}
	o.Front.Descriptors = 1 << 20
	r, err := mirror.New(o)
	if err != nil {
		t.Fatal(err)
	}
	address, stop = listen(t, r, r.Listener)
	t.Cleanup(func() {
		stop()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Shutdown(ctx); err != nil {
			t.Errorf("shutdown of a mirror: %v", err)
		}
		log.check(t)
	})
	return r, address, stop
}

func upstream(address string) mirror.Upstream { return mirror.Upstream{URL: "http://" + address} }

// A watcher is a real client who notes the state hash of each tick.
type watcher struct {
	s        *client.Session
	mu       sync.Mutex
	hashes   map[lockstep.Tick]uint64
	events   []string
	closings []protocol.CloseCode
	synced   int
	last     lockstep.Tick
	ended    string
}

func watch(t testing.TB, g *lockstep.Game, address string, hc *http.Client, others ...string) *watcher {
	w := &watcher{hashes: map[lockstep.Tick]uint64{}}
	w.s = client.Dial(t.Context(), "ws://"+address+"/matches/duel/play", g, client.Options{
		HTTP: hc, Servers: others,
		Sample: func(c *player.Client) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.last = c.Simulation().Tick()
			w.hashes[w.last] = c.Simulation().Hash()
		},
		Handle: func(_ *player.Client, e any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch e := e.(type) {
			case player.Desynced, player.ServerError:
				w.events = append(w.events, fmt.Sprintf("%T%+v", e, e))
			case player.Synced:
				w.synced++
			case player.ServerClosing:
				w.closings = append(w.closings, e.Code)
			case player.Ended:
				w.ended = e.Reason
			}
		},
	})
	return w
}

func (w *watcher) tick() lockstep.Tick {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// equal compares what watchers have seen, and returns the number of ticks that two or more have.
func equal(t *testing.T, all ...*watcher) (common int) {
	t.Helper()
	known := map[lockstep.Tick]uint64{}
	for i, w := range all {
		w.mu.Lock()
		for tick, hash := range w.hashes {
			if want, ok := known[tick]; ok {
				if common++; want != hash {
					t.Errorf("watcher %d: tick %d: got %x, want %x", i, tick, hash, want)
				}
			}
			known[tick] = hash
		}
		if len(w.events) > 0 {
			t.Errorf("watcher %d: %s", i, strings.Join(w.events, "; "))
		}
		w.mu.Unlock()
	}
	return common
}

// eventually waits until ok reports true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
	}
}
