//go:build !js

package live

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
	if _, err := viewOf(t.Context(), web.URL, ""); err == nil || !strings.HasSuffix(err.Error(), ": 404 Not Found") {
		t.Errorf("got %.200v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}
