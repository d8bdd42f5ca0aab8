//go:build !js && !wasip1

package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/live"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// pebblesModule returns the rules of a game that no program of ours has, from its golden match.
func pebblesModule(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../../examples/pebbles/testdata/golden/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	f, err := replay.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := r.Rules()
	if err != nil || rules == nil {
		t.Fatal("the golden match has no rules", err)
	}
	b, err := rules.Module()
	if err != nil || b == nil {
		t.Fatal("the golden match has no module", err)
	}
	return b
}

// sumOf returns the SHA-256 of a module.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// inEmptyCache gives the test, and the programs that it runs, a cache of their own.
func inEmptyCache(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
}

// fetchedModules returns the modules that the user's cache has from servers.
func fetchedModules(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(gameset.FetchedIn(gameset.StoreOfUser()), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

// A player joins a match of a game that its program has never seen: the server sends the rules, once.
func TestJoinFetchesRules(t *testing.T) {
	testenv.Long(t) // TestFetchedRulesAreChecked fetches rules, too
	inEmptyCache(t)
	b := pebblesModule(t)
	file := filepath.Join(t.TempDir(), "pebbles.wasm")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	s := tooltest.Serve(t, "--rules", file, "--game", "pebbles", "--players", "2", "--bots", "1", "--set", "base-path=/game/", "--dir", t.TempDir(), "--tick-rate", "100")
	page := s.URL + "matches/match-1"
	view, err := live.ViewOf(t.Context(), page, "")
	if err != nil || view.Rules != sumOf(b) {
		t.Fatalf("the view has the module %q, %v, want %s", view.Rules, err, sumOf(b))
	}
	join := func(long string) string {
		t.Helper()
		var out, errs bytes.Buffer
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.Tokens["player-0"]), 0o600); err != nil {
			t.Fatal(err)
		}
		code := tooltest.Execute([]string{"join", page, "--token-file", token, "--for", long, "--json"}, &out, &errs)
		var sum tooltest.Summary
		if err := json.Unmarshal(out.Bytes(), &sum); err != nil || code != console.ExitOK || long == "2s" && sum.Agreed == 0 || sum.Differing > 0 || sum.Seat != 0 {
			t.Fatalf("join exited with %d, %v: %s%s", code, err, &out, &errs)
		}
		return errs.String()
	}
	want := fmt.Sprintf("got the rules of pebbles build %s from %srules/%s.wasm", view.Build, s.URL, sumOf(b))
	if said := join("2s"); !strings.Contains(said, want) {
		t.Errorf("join said %q, want %q", said, want)
	}
	if got := fetchedModules(t); len(got) != 1 || got[0] != sumOf(b)+".wasm" {
		t.Errorf("the cache has %q, want the module", got)
	}
	if said := join("1s"); strings.Contains(said, "got the rules") {
		t.Errorf("the second join fetched them again: %s", said)
	}

	// Nothing else is at that path.
	for path, status := range map[string]int{
		"rules/" + sumOf(b) + ".wasm": 200, "rules/" + sumOf(b): 404, "rules/" + strings.Repeat("0", 64) + ".wasm": 404, "rules/": 404, "rules/..%2f..%2fetc%2fpasswd": 404,
		"../rules/" + sumOf(b) + ".wasm": 404,
	} {
		answer, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || answer.StatusCode != status || status == 200 && !bytes.Equal(body, b) {
			t.Errorf("%s: got %s with %d bytes, %v, want %d", path, answer.Status, len(body), err, status)
		}
		if immutable := strings.Contains(answer.Header.Get("Cache-Control"), "immutable"); immutable != (status == 200) {
			t.Errorf("%s: got Cache-Control %q", path, answer.Header.Get("Cache-Control"))
		}
	}
}

// A server sends something else than the module that it names: join says what is wrong, and keeps nothing.
func TestFetchedRulesAreChecked(t *testing.T) {
	inEmptyCache(t)
	b := pebblesModule(t)
	g, err := gameset.NewModuleGame(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }))
	defer elsewhere.Close()
	for _, row := range []struct {
		name, sum, game string
		answer          http.HandlerFunc
		want            string // of the error
	}{
		{"right", sumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }, ""},
		{"no such path", sumOf(b), "pebbles", http.NotFound, "got 404 Not Found, want a module"},
		{"other bytes", sumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write(b[:len(b)-1]) }, "got a module with SHA-256 " + sumOf(b[:len(b)-1]) + ", want " + sumOf(b)},
		{"no module", sumOf([]byte("text")), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("text")) }, "not a module of rules"},
		{"another game", sumOf(b), "chess", func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }, `got the module of game "pebbles", build "` + g.Build() + `", want "chess"`},
		{"too large", sumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) {
			for n := 0; n <= wasm.MaxBytes; n += len(b) {
				w.Write(b)
			}
		}, "got more than 32 MiB, want a module"},
		{"cut", sumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:100])
		}, "unexpected EOF"},
		{"redirect", sumOf(b), "pebbles", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		}, `got a redirect to "` + elsewhere.URL + `", want none`},
		{"no answer", sumOf(b), "pebbles", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the server takes too long"},
		{"no end", sumOf(b), "pebbles", func(w http.ResponseWriter, r *http.Request) {
			w.Write(b[:100])
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server takes too long"},
		{"no hash", "../" + sumOf(b)[3:], "pebbles", http.NotFound, "want 64 hexadecimal digits"},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/game/rules/"+row.sum+".wasm" || r.Header.Get("Authorization") != "Bearer letmein" {
					t.Errorf("got a request for %s with %v", r.URL.Path, r.Header)
				}
				row.answer(w, r)
			}))
			defer web.Close()
			var said []string
			f := &live.ModuleFetch{
				Want: &server.View{Game: row.game, Build: g.Build(), Rules: row.sum}, Pages: []string{web.URL + "/game/matches/m"}, Token: "letmein", Store: filepath.Join(t.TempDir(), "rules"),
				Say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, AnswerTime: time.Minute, Time: time.Minute,
			}
			if strings.HasPrefix(row.name, "no answer") {
				f.AnswerTime = time.Millisecond
			} else if row.name == "no end" {
				f.Time = time.Millisecond
			}
			_, err := f.Game(t.Context())
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			kept, globErr := filepath.Glob(filepath.Join(f.Store, "*", "*"))
			if globErr != nil || len(kept) != len(said) || (len(kept) > 0) != (err == nil) {
				t.Errorf("kept %q, said %q, %v", kept, said, globErr)
			}
		})
	}
}

// A damaged module in the cache is fetched again, and another server of the match is asked if one has none.
func TestFetchedRulesAgain(t *testing.T) {
	b := pebblesModule(t)
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Write(b)
	}))
	defer web.Close()
	g, err := gameset.NewModuleGame(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &live.ModuleFetch{
		Want: &server.View{Game: g.Name(), Build: g.Build(), Rules: sumOf(b)}, Pages: []string{none.URL + "/matches/m", web.URL + "/matches/m"}, Store: t.TempDir(),
		Say: func(string, ...any) {}, AnswerTime: time.Minute, Time: time.Minute,
	}
	kept := filepath.Join(gameset.FetchedIn(f.Store), sumOf(b)+".wasm")
	for i, now := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(kept, b[:100], 0o666) },
		func() error { return os.WriteFile(filepath.Join(f.Store, filepath.Base(kept)), b, 0o666) }, // as rules add does
		func() error { return os.Remove(kept) },
	} {
		if err := now(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Game(t.Context()); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if want := min(i+1, 2); asked != want {
			t.Errorf("%d: the server was asked %d times, want %d", i, asked, want)
		}
	}
}

// For a replay, the modules that the user has added come before those of servers, which may name any game.
func TestFetchedRulesComeLast(t *testing.T) {
	inEmptyCache(t)
	ours := pebblesModule(t)
	theirs := append(bytes.Clone(ours), 0, 2, 1, 'x') // the same with a custom section
	write := func(dir string, b []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, sumOf(b)+".wasm"), b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	found := func() string {
		t.Helper()
		app := cli.NewApp()
		app.ErrWriter = io.Discard
		m, err := gameset.NewModuleSet(cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), nil), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.Find(func(g *gameset.Playable) bool { return g.Name() == "pebbles" })
		if err != nil {
			t.Fatal(err)
		}
		if g == nil {
			return ""
		}
		return g.Module.Sum
	}
	write(gameset.FetchedIn(gameset.StoreOfUser()), theirs)
	if got := found(); got != sumOf(theirs) {
		t.Errorf("without a module of the user, got %q, want %s", got, sumOf(theirs))
	}
	write(gameset.StoreOfUser(), ours)
	if got := found(); got != sumOf(ours) {
		t.Errorf("got %q, want %s, which the user has added", got, sumOf(ours))
	}
}
