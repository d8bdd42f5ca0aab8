//go:build !js && !wasip1

package browser

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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// A Stage is a server with a page and one match, "arena". The tokens "token-of-player-0" and so on take its seats,
// "token-of-a-guest" takes any seat, and "token-of-the-admin" is an admin's.
type Stage struct {
	Server  *server.Server
	Match   *server.Match
	URL     string
	Dir     string           // of the replays
	Closed  atomic.Bool      // nobody gets a new WebSocket
	Instead http.HandlerFunc // answers every new WebSocket, unless it is nil

	T     testing.TB
	mu    sync.Mutex
	conns map[net.Conn]bool // WebSockets of the server
}

// StageOptions configure a stage.
type StageOptions struct {
	Site     func() (*site.Site, error)
	Match    server.MatchSpec // without a name
	Host     host.Options
	Guests   bool                                      // everybody gets a seat, and no token of the list is known
	NewMatch func(io.Reader) (server.MatchSpec, error) // see [server.Options]
	Rules    http.Handler                              // see [server.Options]
	RulesOf  func(*lockstep.Game) string               // see [server.Options]

	NoDatagrams        bool
	DatagramsElsewhere bool // at another port than the page
}

// Requested returns a NewMatch that reads what the lobby sends. usual returns a pointer to the configuration of a usual match;
// units is 0 unless the user has chosen a number.
func Requested(g *lockstep.Game, usual func(players uint8, units uint16) any) func(io.Reader) (server.MatchSpec, error) {
	return func(body io.Reader) (server.MatchSpec, error) {
		r := struct {
			Name, Game    string
			Players, Bots uint8
			Units         uint16
			TickRate      uint16 `json:"tick_rate"`
			Bot           string
			Seed          json.Number // or text
			Config        json.RawMessage
		}{Seed: "1", Config: json.RawMessage("{}")}
		d := json.NewDecoder(body)
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			return server.MatchSpec{}, err
		}
		if r.Game != "" && r.Game != g.Name() {
			return server.MatchSpec{}, fmt.Errorf("got game %q, want %s", r.Game, g.Name())
		}
		seed, err := strconv.ParseUint(r.Seed.String(), 10, 64)
		if err != nil {
			return server.MatchSpec{}, err
		}
		config, err := g.ReadConfig(r.Config, usual(r.Players, r.Units))
		settings := lockstep.DefaultSettings(r.Players)
		settings.TickMicros, settings.Seed = lockstep.TickPeriod(r.TickRate), max(seed, 1)
		return server.MatchSpec{Name: r.Name, Game: g, Settings: settings, Config: config}, err
	}
}

// NewStage serves a match until the test ends. The test runs in parallel with others, because it waits most of the time.
func NewStage(t *testing.T, o StageOptions) *Stage {
	t.Helper()
	Needs(t)
	t.Parallel()
	files, err := o.Site()
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for p := range o.Match.Settings.Players {
		fmt.Fprintf(&list, "player %d player-%d - token-of-player-%d\n", p, p, p)
		fmt.Fprintf(&list, "spectator player:%d coach-%d - token-of-coach-%d\n", p, p, p)
	}
	fmt.Fprintln(&list, "player - guest - token-of-a-guest")
	fmt.Fprintln(&list, "admin - admin - token-of-the-admin")
	tokens, err := server.ReadTokens(strings.NewReader(list.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := &Stage{T: t, Dir: t.TempDir(), conns: make(map[net.Conn]bool)}
	o.Host.AnonymousSpectators = true
	var authorizer server.Authorizer = tokens
	if o.Guests {
		authorizer = server.Guests{}
	}
	if s.Server, err = server.New(server.Options{
		Authorizer: authorizer, Host: o.Host, Dir: s.Dir, Replays: true, Log: slog.New(slog.DiscardHandler), NewMatch: o.NewMatch,
		Rules: o.Rules, RulesOf: o.RulesOf,
	}); err != nil {
		t.Fatal(err)
	}
	o.Match.Name = "arena"
	if s.Match, err = s.Server.Create(o.Match); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(nil)
	var udp net.PacketConn
	var also []string
	if o.DatagramsElsewhere {
		if udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		also = []string{fmt.Sprintf("https://:%d", udp.LocalAddr().(*net.UDPAddr).Port)}
	}
	for tries := 0; udp == nil && !o.NoDatagrams; tries++ { // the page's own port, which may be in use
		if udp, err = net.ListenPacket("udp", web.Listener.Addr().String()); err == nil {
			break
		}
		if tries == 20 {
			t.Fatal(err)
		}
		web.Listener.Close()
		if web.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	web.Config.Handler = files.Over(http.HandlerFunc(s.serve), also...)
	web.Config.ConnState = s.connState
	web.Start()
	s.URL = web.URL
	serving, stop := context.WithCancel(context.Background())
	if udp != nil {
		context.AfterFunc(serving, func() { udp.Close() })
		go s.Server.ServeDatagrams(serving, udp, "")
	}
	t.Cleanup(func() {
		defer stop()
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := s.Server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		web.CloseClientConnections()
		web.Close()
	})
	return s
}

// serve passes requests to the server, unless the stage is closed.
func (s *Stage) serve(w http.ResponseWriter, r *http.Request) {
	socket := strings.HasSuffix(r.URL.Path, "/play")
	switch {
	case socket && s.Closed.Load():
		http.Error(w, "closed", http.StatusServiceUnavailable)
	case socket && s.Instead != nil:
		s.Instead(w, r)
	default:
		s.Server.ServeHTTP(w, r)
	}
}

// connState keeps the connections that became WebSockets.
func (s *Stage) connState(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateHijacked {
		s.conns[c] = true
	}
}

// Cut drops all WebSockets without a close, like a failing network.
func (s *Stage) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
	clear(s.conns)
}

// World calls f with the match's own state, and returns the result of f.
func World[S, T any](s *Stage, f func(w *S) T) (got T) {
	s.T.Helper()
	if err := s.Match.Do(s.T.Context(), func(h *host.Host) { got = f(lockstep.World[S](h.Referee().Simulation())) }); err != nil {
		s.T.Fatal(err)
	}
	return got
}

// UntilWorld waits until the match's own state satisfies a condition.
func UntilWorld[S any](s *Stage, what string, f func(w *S) bool) {
	s.T.Helper()
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if World(s, f) {
			return
		}
	}
	s.T.Fatalf("never: %s", what)
}

// Config returns the configuration of a match as its header has it.
func (s *Stage) Config(match string) (config []byte) {
	s.T.Helper()
	for _, m := range s.Server.Matches() {
		if m.Name() != match {
			continue
		}
		if err := m.Do(s.T.Context(), func(h *host.Host) { config = h.Header().Config }); err != nil {
			s.T.Fatal(err)
		}
	}
	return config
}

// Seat plays a seat by think until the test ends.
func (s *Stage) Seat(g *lockstep.Game, p lockstep.Player, think func(c *player.Client)) *client.Session {
	s.T.Helper()
	session := client.Dial(s.T.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/matches/arena/play", g, client.Options{
		Options: player.Options{Token: fmt.Sprintf("token-of-player-%d", p)}, Sample: think,
	})
	s.T.Cleanup(func() { session.Wait() })
	return session
}

// Recorded puts a replay into the server's folder.
func (s *Stage) Recorded(path string) {
	s.T.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		s.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, filepath.Base(path)), b, 0o666); err != nil {
		s.T.Fatal(err)
	}
}
