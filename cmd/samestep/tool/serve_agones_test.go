//go:build !js

package tool

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/server/agones"
)

// Agones hears four things: the server is ready, somebody plays, the match is over, and the server ends. It hears nothing when everybody
// has left a match that can go on.
func TestServeTellsAgones(t *testing.T) {
	calls := make(chan string, 10)
	health := make(chan struct{}, 1)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || r.Method != http.MethodPost || string(body) != "{}":
			http.Error(w, "want POST of {}", http.StatusBadRequest)
		case r.URL.Path == "/health":
			select {
			case health <- struct{}{}:
			default:
			}
		default:
			calls <- r.URL.Path
		}
	}))
	defer gateway.Close()
	_, port, err := net.SplitHostPort(gateway.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(agones.PortVariable, port)
	hear := func(want string) {
		t.Helper()
		select {
		case got := <-calls:
			if got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("not within a minute: %s", want)
		}
	}
	s := tooltest.Serve(t, "--dir", "", "--players", "1", "--set", "start=1", "--set", "drain=1m")
	<-health
	hear("/ready")
	if _, code := s.Join(t, "player-0", "--time", "1s"); code != console.ExitOK {
		t.Fatalf("join exits with %d", code)
	}
	hear("/allocate")
	for range 4 { // a second each
		<-health
	}
	if len(calls) > 0 {
		t.Errorf("got %s while the match can still go on, want nothing", <-calls)
	}
	s.End(t, s.Tokens["admin"])
	hear("/ready")
	if code := s.Stop(); code != console.ExitOK {
		t.Errorf("the server exits with %d: %s", code, s.Stderr.String())
	}
	hear("/shutdown")
	if len(calls) > 0 {
		t.Errorf("got %s after the end", <-calls)
	}
}

// A server in Agones does not start without a port that it can use.
func TestServeWrongAgones(t *testing.T) {
	t.Setenv(agones.PortVariable, "9358/tcp")
	var log strings.Builder
	code := tooltest.Process(t.Context(), os.Args[0], []string{"serve", "--dir", "", "--set", "web=false", "--listen", "127.0.0.1:0"}, io.Discard, &log)
	if code == console.ExitOK || !strings.Contains(log.String(), agones.PortVariable) {
		t.Errorf("got exit code %d and %q, want an error that names %s", code, log.String(), agones.PortVariable)
	}
}
