//go:build !js

package server_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// rulesFile is where a server with modules has the one of the minimal game.
var (
	rulesSum  = strings.Repeat("0f", 32)
	rulesFile = "/rules/" + rulesSum + ".wasm"
)

// withRules returns the options of a server whose module has a content.
func withRules(content io.WriterTo) server.Options {
	return server.Options{
		Rules: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != rulesFile {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/wasm")
			content.WriteTo(w)
		}),
		RulesOf: func(g *lockstep.Game) string {
			if g.Name() == "minimal" {
				return rulesSum
			}
			return ""
		},
	}
}

// The games of a server are told apart by what its program has given it, whatever their names, builds and assets.
func TestRulesOfMatch(t *testing.T) {
	games := map[string]*lockstep.Game{}
	for _, name := range []string{"one", "two"} {
		games[name] = lockstep.MustGame(testgame.TilesRules()).WithAssets(tilesSource(tilesMap))
	}
	s := newStage(t, setup{options: server.Options{RulesOf: func(g *lockstep.Game) string {
		switch g {
		case games["one"]:
			return strings.Repeat("1", 64)
		case games["two"]:
			return strings.Repeat("2", 64)
		}
		return ""
	}}})
	for name, want := range map[string]string{"one": strings.Repeat("1", 64), "two": strings.Repeat("2", 64)} {
		m, err := s.server.Create(server.MatchSpec{Name: name, Game: games[name], Settings: lockstep.DefaultSettings(2), Config: &testgame.TilesConfig{Map: tilesAsset}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Status().Rules; got != want {
			t.Errorf("%s: got the rules %q, want %q", name, got, want)
		}
	}
}

// A view names the module of its match, which everybody may fetch, and a server without modules has no path for them.
func TestRulesAreServed(t *testing.T) {
	s := newStage(t, setup{options: withRules(strings.NewReader("a module"))})
	s.createTiles(t, "tiles", tilesAsset)
	for _, row := range []struct {
		method, path, host string
		status             int
		body               string
	}{
		{"GET", "/matches/duel", "", 200, `"rules":"` + rulesSum + `"`},
		{"GET", rulesFile, "", 200, "a module"},
		{"GET", "/rules/none", "", 404, "no_route"},
		{"GET", "/rules/", "", 404, "no_route"},
		{"PUT", rulesFile, "", 405, "wrong_method"},
		{"GET", rulesFile, "evil.example", 403, "wrong_host"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), row.method, "http://"+s.host+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = row.host
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || answer.StatusCode != row.status || !strings.Contains(string(b), row.body) {
			t.Errorf("%s %s: got %s %s, %v, want %d with %s", row.method, row.path, answer.Status, b, err, row.status, row.body)
		}
	}
	if _, body := s.get(t, "GET", "/matches/tiles"); strings.Contains(body, `"rules"`) {
		t.Errorf("got %s, want no rules of a game without a module", body)
	}
	other := newStage(t, setup{})
	if answer, _ := other.get(t, "GET", rulesFile); answer.StatusCode != http.StatusNotFound {
		t.Errorf("got %s of a server without modules", answer.Status)
	}
	if _, body := other.get(t, "GET", "/matches/duel"); strings.Contains(body, `"rules"`) {
		t.Errorf("got %s, want no rules", body)
	}
}

// endless never ends.
type endless struct{}

func (endless) WriteTo(w io.Writer) (int64, error) {
	for {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			return 0, err
		}
	}
}

// Those who fetch modules without reading have the limits of other downloads.
func TestManyRules(t *testing.T) {
	s := newStage(t, setup{options: withRules(endless{})})
	for n := range 9 {
		answer, err := s.client.Get("http://" + s.host + rulesFile)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if want := map[bool]int{false: 200, true: 503}[n == 8]; answer.StatusCode != want {
			t.Errorf("download %d: got %s, want %d", n, answer.Status, want)
		}
	}
}

// The replicated log names the module of a match from its beginning. No server goes on with the match by another module, or by none,
// and the file of the match still names it when it is over.
func TestLogNamesRules(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	virtually(t, func(t *testing.T) {
		o := withRules(strings.NewReader("a module"))
		o.Replicator = r
		first := newStage(t, setup{pipes: true, options: o})
		want := record.Event(record.System, record.EventRules, rulesSum)
		eventually(t, "the match plays", func() bool { return first.match.Status().Tick > 20 })
		if first := r.beginning(); len(first) < 4 || !bytes.Equal(first[3], want) {
			t.Errorf("the log begins with %x, want %x as its fourth record", first, want)
		}
		path := first.crash(t)
		for _, other := range []func(*lockstep.Game) string{nil, func(*lockstep.Game) string { return strings.Repeat("1", 64) }} {
			s, err := server.New(server.Options{Dir: t.TempDir(), RulesOf: other, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Resume(path, server.MatchSpec{Game: first.game}); !errors.Is(err, server.ErrOtherRules) || !strings.Contains(err.Error(), rulesSum) {
				t.Errorf("got %v, want %v", err, server.ErrOtherRules)
			}
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		second := newStage(t, setup{pipes: true, options: withRules(strings.NewReader("a module")), interrupted: path})
		if err := second.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-second.match.Done()
		f, err := replay.Open(second.match.ReplayPath())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := f.Reader()
		if err != nil {
			t.Fatal(err)
		}
		if rules, err := all.Rules(); err != nil || rules == nil || rules.Sum.String() != rulesSum {
			t.Errorf("got the rules %v, %v, want %s", rules, err, rulesSum)
		}
	})
}
