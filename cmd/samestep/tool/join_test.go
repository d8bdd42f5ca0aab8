//go:build !js

package tool

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A client that was never in the match has failed, also if its time is over, and sums up nothing. With --retry it waits for a server that is
// not there yet.
func TestJoinNeverWelcomed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags  []string
		broken int32 // requests for the status that fail
		want   string
	}{
		{nil, 0, "the server did not admit this client: client: the match's list of assets: got status 503, want 200"},
		{nil, 1, "503 Service Unavailable"},
		{[]string{"--retry", "1m"}, 2, "the server did not admit this client"},
	} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/matches/match-1" || asked.Add(1) <= c.broken {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			w.Write([]byte(`{"game":"skirmish"}`))
		}))
		var out, errs bytes.Buffer
		args := append([]string{"samestep", "join", s.URL + "/matches/match-1", "--time", "300ms"}, c.flags...)
		if code := tooltest.Run(t.Context(), args, &out, &errs); code != console.ExitError || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%v, %d bad answers: exited with %d: %s%s, want %q", c.flags, c.broken, code, out.String(), errs.String(), c.want)
		}
		if asked.Load() < c.broken+1 && c.flags != nil {
			t.Errorf("asked %d times", asked.Load())
		}
		s.Close()
	}
}

// A refusal is all that join prints: the server wants a token, or has no such match.
func TestJoinRefused(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--dir", "", "--game", "minimal")
	for match, want := range map[string]string{
		"match-1": "samestep: the server requires a token; see --token and SAMESTEP_TOKEN\n",
		"match-7": "samestep: " + s.URL + "/matches/match-7: the server has no match of this name; " + s.URL + "/matches lists its matches\n",
	} {
		for _, flags := range [][]string{nil, {"--json"}} {
			var out bytes.Buffer
			if code := tooltest.Run(t.Context(), append([]string{"samestep", "join", s.URL + "/matches/" + match}, flags...), &out, &out); code != console.ExitError || out.String() != want {
				t.Errorf("%s %v: got exit code %d and %s, want %s", match, flags, code, &out, want)
			}
		}
	}
	s.Stop()
}
