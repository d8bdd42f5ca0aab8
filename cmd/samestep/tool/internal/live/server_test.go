//go:build !js

package live

import (
	"errors"
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

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/server"
)

// A client shows its token with its first request, and to no other server.
func TestViewShowsToken(t *testing.T) {
	shown := make(chan string, 2)
	answer := func(w http.ResponseWriter, r *http.Request) {
		shown <- r.Header.Get("Authorization")
		io.WriteString(w, "{}")
	}
	other := httptest.NewServer(http.HandlerFunc(answer))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			shown <- r.Header.Get("Authorization")
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		answer(w, r)
	}))
	defer web.Close()
	for path, want := range map[string][]string{"/": {"Bearer letmein"}, "/elsewhere": {"Bearer letmein", ""}} {
		if _, err := statusOf(t.Context(), web.URL+path, "letmein"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i, want := range want {
			if got := <-shown; got != want {
				t.Errorf("%s: request %d showed %q, want %q", path, i, got, want)
			}
		}
	}
}

// A client tries again at a server without a budget for its address, also one that closes the connection, and at no other one.
func TestInsist(t *testing.T) {
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter)
		asked  int
	}{
		"429":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, 2},
		"closed": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2},
		"404":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked == 1 {
					row.answer(w)
					return
				}
				io.WriteString(w, "{}")
			}))
			defer web.Close()
			err := insist(t.Context(), 0, func() error {
				_, err := statusOf(t.Context(), web.URL, "")
				return err
			})
			if asked != row.asked || (err == nil) != (row.asked == 2) || errors.Is(err, errCrowded) {
				t.Errorf("asked %d times, then %v, want %d times", asked, err, row.asked)
			}
		})
	}
}

// An error quotes nothing of a server's status line, which may have any length.
func TestForeignStatusLine(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 404 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", strings.Repeat("\x1bno ", 10_000))
		c.Close()
	}))
	defer web.Close()
	if _, err := statusOf(t.Context(), web.URL, ""); err == nil || !strings.HasSuffix(err.Error(), ": 404 Not Found") {
		t.Errorf("got %.200v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A server sends something else than the module that it names: join says what is wrong, and keeps nothing.
func TestFetchedRulesAreChecked(t *testing.T) {
	tooltest.InEmptyCache(t)
	b, _ := tooltest.Pebbles(t)
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
		{"right", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }, ""},
		{"no such path", tooltest.SumOf(b), "pebbles", http.NotFound, "got 404 Not Found, want a module"},
		{"other bytes", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write(b[:len(b)-1]) }, "got a module with SHA-256 " + tooltest.SumOf(b[:len(b)-1]) + ", want " + tooltest.SumOf(b)},
		{"no module", tooltest.SumOf([]byte("text")), "pebbles", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("text")) }, "not a rules module"},
		{"another game", tooltest.SumOf(b), "chess", func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }, `got the module of game "pebbles", build "` + g.Build() + `", want "chess"`},
		{"too large", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) {
			for n := 0; n <= wasm.MaxBytes; n += len(b) {
				w.Write(b)
			}
		}, "got more than 32 MiB, want a module"},
		{"cut", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:100])
		}, "unexpected EOF"},
		{"redirect", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		}, `got a redirect to "` + elsewhere.URL + `", want none`},
		{"no answer", tooltest.SumOf(b), "pebbles", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the server took too long"},
		{"no end", tooltest.SumOf(b), "pebbles", func(w http.ResponseWriter, r *http.Request) {
			w.Write(b[:100])
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server took too long"},
		{"no hash", "../" + tooltest.SumOf(b)[3:], "pebbles", http.NotFound, "want 64 hexadecimal digits"},
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
			f := &moduleFetch{
				want: &server.Status{Game: row.game, Build: g.Build(), Rules: row.sum}, pages: []string{web.URL + "/game/matches/m"}, token: "letmein", store: filepath.Join(t.TempDir(), "rules"),
				say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, answerTime: time.Minute, time: time.Minute,
			}
			if strings.HasPrefix(row.name, "no answer") {
				f.answerTime = time.Millisecond
			} else if row.name == "no end" {
				f.time = time.Millisecond
			}
			_, err := f.find(t.Context())
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			kept, globErr := filepath.Glob(filepath.Join(f.store, "*", "*"))
			if globErr != nil || len(kept) != len(said) || (len(kept) > 0) != (err == nil) {
				t.Errorf("kept %q, said %q, %v", kept, said, globErr)
			}
		})
	}
}

// A damaged module in the cache is fetched again, and another server of the match is asked if one has none.
func TestFetchedRulesAgain(t *testing.T) {
	b, _ := tooltest.Pebbles(t)
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
	f := &moduleFetch{
		want: &server.Status{Game: g.Name(), Build: g.Build(), Rules: tooltest.SumOf(b)}, pages: []string{none.URL + "/matches/m", web.URL + "/matches/m"}, store: t.TempDir(),
		say: func(string, ...any) {}, answerTime: time.Minute, time: time.Minute,
	}
	kept := filepath.Join(gameset.FetchedIn(f.store), tooltest.SumOf(b)+".wasm")
	for i, now := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(kept, b[:100], 0o666) },
		func() error { return os.WriteFile(filepath.Join(f.store, filepath.Base(kept)), b, 0o666) }, // as rules add does
		func() error { return os.Remove(kept) },
	} {
		if err := now(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.find(t.Context()); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if want := min(i+1, 2); asked != want {
			t.Errorf("%d: the server was asked %d times, want %d", i, asked, want)
		}
	}
}

// A match that names its rules by their sum is played with the module of that sum, of several with the same build.
func TestRulesOfMatchBySum(t *testing.T) {
	c := cli.NewContext(&cli.App{Metadata: map[string]any{}}, nil, nil)
	games := map[*gameset.Playable]string{}
	var list gameset.List
	right, wrong := tooltest.Pebbles(t)
	for _, b := range [][]byte{right, wrong} {
		g, err := gameset.NewModuleGame(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, games[g] = append(list, g), tooltest.SumOf(b)
	}
	c.App.Metadata[gameset.GamesKey] = list
	for g, sum := range games {
		if got, err := gameOfMatch(c, &server.Status{Game: g.Name(), Build: g.Build(), Rules: sum}, nil, ""); got != g {
			t.Errorf("a match that names SHA-256 %s has %v, %v", sum, got, err)
		}
	}
}

// An answer that breaks off leaves no file, and a name of the server cannot lead elsewhere.
func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	var s savedReplay
	for _, bad := range []string{"", "text", "SAMESTEP"} {
		f, err := os.Create(filepath.Join(dir, "save.ssr"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.take(f, strings.NewReader(bad)); err == nil {
			t.Errorf("%q: want an error", bad)
		}
		if err := s.take(f, io.MultiReader(strings.NewReader("x"), &failing{})); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("broken off: got %v", err)
		}
		f.Close()
	}
	for header, want := range map[string]string{
		`attachment; filename="duel-9d40d492-1200.ssr"`: "duel-9d40d492-1200.ssr",
		`attachment; filename="../duel.ssr"`:            "", `attachment; filename="duel"`: "", "": "", `attachment; filename=".ssr"`: "",
	} {
		if got := nameOf(&http.Response{Header: http.Header{"Content-Disposition": {header}}}); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
}

// A failing reader is a connection that breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
