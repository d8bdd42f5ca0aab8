//go:build !js

package server_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// metric returns the value of a metric, with its labels as they are exposed.
func (s *stage) metric(t *testing.T, name string) float64 {
	t.Helper()
	_, body := s.ask(t, "GET", "/metrics", "", "")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no %s in\n%s", name, body)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The names, units and help texts follow the conventions of Prometheus, as promtool check metrics tests them.
func TestMetricsAreClean(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		_, body := s.ask(t, "GET", "/metrics", "", "")
		problems, err := promlint.New(strings.NewReader(body)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	})
}

// Each state of a match is counted, and a hold by its reason.
func TestMatchStates(t *testing.T) {
	t.Parallel()
	f := &badFile{}
	inBubble(t, setup{newFile: f.new}, func(t *testing.T, s *stage) {
		a := s.join(t, ada, wander)
		<-a.Ready()
		check := func(state string, full float64) {
			t.Helper()
			time.Sleep(5 * time.Second)
			for _, each := range []string{"starting", "playing", "paused", "held", "ended"} {
				want := 0.0
				if each == state {
					want = 1
				}
				if got := s.metric(t, fmt.Sprintf("samestep_matches{state=%q}", each)); got != want {
					t.Errorf("%s: got %v matches %s, want %v", state, got, each, want)
				}
			}
			if got := s.metric(t, `samestep_held_matches{reason="the server's disk is full"}`); got != full {
				t.Errorf("%s: got %v held matches, want %v", state, got, full)
			}
		}
		check("playing", 0)
		s.ask(t, "POST", "/matches/duel/pause?seat=0", ops, "")
		check("paused", 0)
		s.ask(t, "POST", "/matches/duel/resume?seat=0", ops, "")
		f.set(func() { f.full = true })
		check("held", 1)
		f.set(func() { f.full = false })
		check("playing", 0)
	})
}

// A folder that is removed under a server fails replays that are sealed, and replays that are created.
func TestFailuresOfARemovedFolder(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true})
		<-s.join(t, ada, wander).Ready()
		if err := os.RemoveAll(s.dir); err != nil {
			t.Skip(err) // systems that keep open files
		}
		eventually(t, "the server says it while the match runs", func() bool { return strings.Contains(s.log.String(), "the log of a running match is gone") })
		if got := s.metric(t, "samestep_replay_failures_total"); got != 1 {
			t.Errorf("got %v failures, want 1", got)
		}
		if status, _ := s.ask(t, "DELETE", "/matches/duel", ops, ""); status != 200 {
			t.Fatal(status)
		}
		<-s.match.Done()
		spec, err := newMatch(strings.NewReader(`{"Name":"two"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.server.Create(spec); !errors.Is(err, server.ErrStorage) {
			t.Fatalf("got %v, want %v", err, server.ErrStorage)
		}
		if got := s.metric(t, "samestep_replay_failures_total"); got != 2 {
			t.Errorf("got %v failures, want 2", got)
		}
	})
}

// BenchmarkScrape is GET /metrics of a server with 200 matches.
//
//	go test -run '^$' -bench Scrape -benchmem ./server
func BenchmarkScrape(b *testing.B) {
	s, err := server.New(server.Options{AllowedHosts: []string{"server"}, Limits: server.Limits{IdleMatch: -1}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	game := lockstep.MustGame(minimal.Rules())
	for i := range 200 {
		spec := server.MatchSpec{Name: fmt.Sprint("match-", i), Game: game, Settings: lockstep.DefaultSettings(1), Config: &minimal.Config{Size: 9}}
		if _, err := s.Create(spec); err != nil {
			b.Fatal(err)
		}
	}
	defer s.Shutdown(b.Context())
	private := s.Private()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://server/metrics", nil)
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", n>>8&255, n&255) // an address has a budget
		if private.ServeHTTP(w, r); w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
	}
}
