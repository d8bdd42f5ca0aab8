//go:build !js

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

// Players join with their tokens while 300 connections a second come from their own address.
func TestJoinThroughFlood(t *testing.T) {
	s := serveInTest(t, "--game", "minimal", "--players", "4", "--dir", t.TempDir())
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	spent := make(chan struct{})
	flood.Go(func() {
		var open []net.Conn
		defer func() {
			for _, c := range open {
				c.Close()
			}
		}()
		for n := 0; ctx.Err() == nil; n++ {
			if c, err := net.Dial("tcp", u.Host); err == nil {
				open = append(open, c)
			}
			if n == 400 {
				close(spent)
			}
			if n > 400 {
				time.Sleep(time.Second / 300)
			}
		}
	})
	<-spent
	var players sync.WaitGroup
	for seat := range 4 {
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.tokens[fmt.Sprintf("player-%d", seat)]), 0o600); err != nil {
			t.Fatal(err)
		}
		players.Go(func() {
			var out, errs bytes.Buffer
			code := program([]string{"join", s.url + "/matches/match-1", "--token-file", token, "--for", "500ms", "--json"}, &out, &errs)
			var sum joinSummary
			if err := json.Unmarshal(out.Bytes(), &sum); err != nil || code != console.ExitOK || sum.Seat != seat {
				t.Errorf("player %d: join exited with %d, %v: %s%s", seat, code, err, &out, &errs)
			}
		})
	}
	players.Wait()
}

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
		if _, err := viewOf(t.Context(), web.URL+path, "letmein"); err != nil {
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
				_, err := viewOf(t.Context(), web.URL, "")
				return err
			})
			if asked != row.asked || (err == nil) != (row.asked == 2) || errors.Is(err, errCrowded) {
				t.Errorf("asked %d times, then %v, want %d times", asked, err, row.asked)
			}
		})
	}
}
