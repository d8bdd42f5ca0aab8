package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

const tokenList = `
# role    seat name  match token
player    0    ada   -     ada-ada-ada-ada-ada
player    1    bob   -     bob-bob-bob-bob-bob
spectator -    press -     press-press-press-press
admin     -    ops   -     ops-ops-ops-ops-ops-ops
`

// A stage is a server with one match of the minimal game.
type stage struct {
	server *server.Server
	match  *server.Match
	http   *httptest.Server
	game   *lockstep.Game
	dir    string
}

func newStage(t *testing.T, host lockstep.HostOptions) *stage {
	t.Helper()
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{game: lockstep.MustGame(minimal.Rules()), dir: t.TempDir()}
	s.server, err = server.New(server.Options{
		Authorizer: tokens, Dir: s.dir, Host: host, Log: slog.New(slog.NewTextHandler(&logWriter{t: t}, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := lockstep.DefaultSettings(2)
	settings.TickRate, settings.CheckEvery = 100, 10
	s.match, err = s.server.Create(server.MatchSpec{Name: "duel", Game: s.game, Settings: settings, Config: &minimal.Config{Size: 50, Coins: 500}})
	if err != nil {
		t.Fatal(err)
	}
	s.http = httptest.NewServer(s.server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		s.http.Close()
	})
	return s
}

// logWriter shows the server's log in the test's, until the test is over.
type logWriter struct {
	t  *testing.T
	mu sync.Mutex
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// A guest is a client of the stage, and what it was told.
type guest struct {
	*client.Session
	mu     sync.Mutex
	events []any
}

func (s *stage) join(t *testing.T, token string, sample func(*lockstep.Client)) *guest {
	t.Helper()
	g := &guest{}
	url := "ws" + strings.TrimPrefix(s.http.URL, "http") + "/matches/duel/play"
	g.Session = client.Dial(t.Context(), url, s.game, client.Options{
		ClientOptions: lockstep.ClientOptions{Token: token, Events: func(e any) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.events = append(g.events, e)
		}},
		Sample: sample,
	})
	return g
}

// has reports whether an event of type E was told.
func has[E any](g *guest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.events {
		if _, ok := e.(E); ok {
			return true
		}
	}
	return false
}

// wander sends the player's dot somewhere, now and then.
func wander(c *lockstep.Client) {
	if t := c.Simulation().Tick(); t%7 == 0 {
		c.Submit(&minimal.Go{X: uint16(t*31) % 50, Y: uint16(t*17) % 50})
	}
}

func (g *guest) tick() (t lockstep.Tick) {
	g.Do(func(c *lockstep.Client) {
		if sim := c.Simulation(); sim != nil {
			t = sim.Tick()
		}
	})
	return t
}

// eventually waits for something that is about to be so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

// The whole thing over real sockets: two players, one who watches and comes
// late, a cut connection, a corrupted copy; and a replay that verifies.
func TestLiveMatch(t *testing.T) {
	s := newStage(t, lockstep.HostOptions{})
	ada, bob := s.join(t, "ada-ada-ada-ada-ada", wander), s.join(t, "bob-bob-bob-bob-bob", wander)
	eventually(t, "both play", func() bool { return ada.tick() > 100 && bob.tick() > 100 })
	press := s.join(t, "press-press-press-press", nil)
	eventually(t, "the spectator is there", func() bool { return press.tick() > 120 })

	if err := bob.Cut(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "bob resumes", func() bool { return has[lockstep.StreamResumed](bob) })

	if err := ada.Do(func(c *lockstep.Client) {
		if err := c.Corrupt("Dots[0].At.X"); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada heals", func() bool { return has[lockstep.Desynced](ada) && has[lockstep.Healed](ada) })
	eventually(t, "a bundle is written", func() bool { return len(s.files(t, "*.zip")) > 0 })
	if has[lockstep.Desynced](bob) || has[lockstep.Desynced](press) {
		t.Error("somebody else was said to differ")
	}

	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*guest{ada, bob, press} {
		if err := g.Wait(); err != nil {
			t.Errorf("a session ended with %v", err)
		}
	}
	<-s.match.Done()
	s.verify(t)
	s.readBundle(t, s.files(t, "*.zip")[0])
}

func (s *stage) files(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func (s *stage) verify(t *testing.T) {
	t.Helper()
	file, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, s.game, replay.VerifyOptions{})
	if err != nil || v.Checked < 10 || v.Commands < 10 || v.Reason != "enough" {
		t.Errorf("the replay: %v, %+v", err, v)
	}
}

func (s *stage) readBundle(t *testing.T, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest
	if m.Player != 0 || m.Section != "Dots" || len(m.Participants) != 2 || len(m.Exhibits) != 2 || m.Agreed >= m.Tick {
		t.Fatalf("got manifest %+v", m)
	}
	last := m.Exhibits[1]
	mine, err := b.State(last.Player)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := b.State(last.Referee)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.game.StateSchema().Diff(theirs, mine, 5)
	if err != nil || d.Total == 0 || !strings.HasPrefix(d.List[0].Path, "Dots[0]") {
		t.Errorf("the states in the bundle: %v, %+v", err, d)
	}
	if _, err := b.Replay(1 << 20); err != nil {
		t.Error(err)
	}
}
