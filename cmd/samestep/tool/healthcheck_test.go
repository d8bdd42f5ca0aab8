//go:build !js

package tool

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A server that is ready passes, also below a path. One that is not, or does not answer, fails with the reason.
func TestHealthcheck(t *testing.T) {
	ready := true
	mux := http.NewServeMux()
	mux.HandleFunc("GET /game/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready {
			http.Error(w, "not ready\nits disk is full", http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte("ready\n"))
	})
	mux.HandleFunc("GET /game/healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	s := httptest.NewServer(mux)
	defer s.Close()
	check := func(code int, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := tooltest.Run(t.Context(), append([]string{"samestep", "healthcheck"}, args...), &out, &out); got != code || !strings.Contains(out.String(), want) {
			t.Errorf("%q: got exit code %d and %q, want %d and %q", args, got, &out, code, want)
		}
	}
	check(console.ExitOK, "ready", s.URL+"/game/")
	check(console.ExitOK, "ready", s.URL+"/game")
	check(console.ExitError, "got status 404", s.URL)
	check(console.ExitUsage, "want one such as", "nowhere")
	check(console.ExitUsage, "got 2 arguments", s.URL, s.URL)
	ready = false
	check(console.ExitError, "its disk is full", s.URL+"/game/")
	check(console.ExitOK, "ok", "--live", s.URL+"/game/")
	s.Close()
	check(console.ExitError, "connection refused", s.URL+"/game/")
	check(console.ExitError, "no such file", "unix:"+t.TempDir()+"/socket")
}
