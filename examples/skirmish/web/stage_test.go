//go:build !js && !wasip1

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/page"
)

// programs are the sources of the page's WebAssembly.
var programs = map[string]string{"skirmish": "github.com/seed-49bee653/samestep/examples/skirmish/web/wasm"}

// program is the path of the page's WebAssembly, which all tests share.
var program = sync.OnceValues(func() (*site.Site, error) {
	files, err := site.Build(context.Background(), site.BuildOptions{Packages: programs, Quality: 5})
	if err != nil {
		return nil, err
	}
	return site.New(web.Page(), page.Parts(), files)
})

// inspector is the page of games without one of their own, with the program of the command line.
var inspector = sync.OnceValues(func() (*site.Site, error) {
	files, err := site.Build(context.Background(), site.BuildOptions{
		Packages: map[string]string{"inspector": "github.com/seed-49bee653/samestep/cmd/samestep"}, Quality: 5,
	})
	if err != nil {
		return nil, err
	}
	return site.New(page.Inspector(), page.Parts(), files)
})

// A stage is a server with the page and one match, "arena". The tokens "token-of-player-0" and so on take its seats.
type stage struct {
	t      *testing.T
	server *server.Server
	match  *server.Match
	url    string
	dir    string

	mu      sync.Mutex
	conns   map[net.Conn]bool // of the server
	closed  atomic.Bool       // nobody gets a new WebSocket
	instead http.HandlerFunc  // takes who wants to play or watch, if it is set
}

// A setup configures a stage. The zero value has two seats, 100 units, 20 ticks and four checksums a second.
type setup struct {
	players    uint8
	units      uint16
	checkEvery uint16
	inspector  bool // the inspector page instead of skirmish's own
	host       host.Options
	rules      func(*lockstep.Rules[skirmish.World, skirmish.Config])
}

var game = lockstep.MustGame(skirmish.Rules())

func newStage(t *testing.T, x setup) *stage {
	t.Helper()
	needsBrowser(t)
	t.Parallel() // they wait most of the time
	made := program
	if x.inspector {
		made = inspector
	}
	files, err := made()
	if err != nil {
		t.Fatal(err)
	}
	if x.players == 0 {
		x.players = 2
	}
	if x.units == 0 {
		x.units = 100
	}
	if x.checkEvery == 0 {
		x.checkEvery = 5
	}
	var list strings.Builder
	for p := range x.players {
		fmt.Fprintf(&list, "player %d player-%d - token-of-player-%d\n", p, p, p)
	}
	fmt.Fprintln(&list, "player - guest - token-of-a-guest") // for any seat
	fmt.Fprintln(&list, "admin - admin - token-of-the-admin")
	tokens, err := server.ReadTokens(strings.NewReader(list.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: t.TempDir(), conns: make(map[net.Conn]bool)}
	x.host.AnonymousSpectators = true
	if s.server, err = server.New(server.Options{
		Authorizer: tokens, Host: x.host, Dir: s.dir, Replays: true, Log: slog.New(slog.DiscardHandler),
		NewMatch: requested,
	}); err != nil {
		t.Fatal(err)
	}
	g := game
	if x.rules != nil {
		rules := skirmish.Rules()
		x.rules(&rules)
		g = lockstep.MustGame(rules)
	}
	settings := lockstep.DefaultSettings(x.players)
	settings.Seed = 1
	settings.CheckEvery = x.checkEvery
	config := skirmish.Defaults(x.players, x.units)
	if s.match, err = s.server.Create(server.MatchSpec{Name: "arena", Game: g, Settings: settings, Config: &config}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(files.Over(http.HandlerFunc(s.serve)))
	web.Config.ConnState = s.connState
	web.Start()
	s.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		web.CloseClientConnections()
		web.Close()
	})
	return s
}

// serve passes requests to the server, unless the stage is closed.
func (s *stage) serve(w http.ResponseWriter, r *http.Request) {
	if s.closed.Load() && strings.HasSuffix(r.URL.Path, "/play") {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	if s.instead != nil && strings.HasSuffix(r.URL.Path, "/play") {
		s.instead(w, r)
		return
	}
	s.server.ServeHTTP(w, r)
}

// world calls f with the match's own state.
func (s *stage) world(f func(w *skirmish.World)) {
	s.t.Helper()
	if err := s.match.Do(s.t.Context(), func(h *host.Host) { f(lockstep.World[skirmish.World](h.Referee().Simulation())) }); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until the match's own state satisfies a condition.
func (s *stage) until(what string, f func(w *skirmish.World) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		yes := false
		if s.world(func(w *skirmish.World) { yes = f(w) }); yes {
			return
		}
	}
	s.t.Fatalf("never: %s", what)
}

// connState keeps the connections that became WebSockets.
func (s *stage) connState(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateHijacked {
		s.conns[c] = true
	}
}

// cut drops all WebSockets without a close, like a failing network.
func (s *stage) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
	clear(s.conns)
}

// requested is the match that an admin creates on the page.
func requested(body io.Reader) (server.MatchSpec, error) {
	var r struct {
		Name     string
		Players  uint8
		Units    uint16
		TickRate uint16 `json:"tick_rate"`
		Seed     uint64
	}
	if err := json.NewDecoder(body).Decode(&r); err != nil {
		return server.MatchSpec{}, err
	}
	settings := lockstep.DefaultSettings(r.Players)
	settings.TickRate, settings.Seed = r.TickRate, max(r.Seed, 1)
	config := skirmish.Defaults(r.Players, r.Units)
	return server.MatchSpec{Name: r.Name, Game: game, Settings: settings, Config: &config}, nil
}

// bot lets a bot play a seat until the test ends.
func (s *stage) bot(p lockstep.Player) *client.Session {
	s.t.Helper()
	bot := skirmish.NewBot(p, 7)
	session := client.Dial(s.t.Context(), strings.Replace(s.url, "http", "ws", 1)+"/matches/arena/play", game, client.Options{
		Options: player.Options{Token: fmt.Sprintf("token-of-player-%d", p)},
		Sample: func(c *player.Client) {
			for _, o := range bot.Think(lockstep.World[skirmish.World](c.Simulation())) {
				if _, err := c.Submit(o.Value); err != nil {
					return // too many wait for an answer
				}
			}
		},
	})
	s.t.Cleanup(func() { session.Wait() })
	return session
}

// recorded puts a golden replay into the server's folder.
func (s *stage) recorded(name string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "replays", name))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, name), b, 0o666); err != nil {
		s.t.Fatal(err)
	}
}
