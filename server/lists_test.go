//go:build !js

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

// Attack 6 of the review: an answer has a bounded number of matches and replays, and the pages together have each of
// them once.
func TestListPages(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Replays: true}, newFile: inNowhere}, func(t *testing.T, s *stage) {
		const more = 249
		for i := range more {
			spec, err := newMatch(strings.NewReader(fmt.Sprintf(`{"Name":"m%03d"}`, i)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.server.Create(spec); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("old%03d.ssr", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(200 * time.Millisecond)
		for _, x := range []struct {
			path  string
			sizes string
		}{{"/matches", "[100 100 50 0]"}, {"/replays", "[100 100 49 0]"}} {
			seen, sizes, after := map[string]bool{}, []int{}, ""
			for range 4 {
				status, body := s.ask(t, "GET", x.path+after, "", "")
				var page []struct{ Name string }
				if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 {
					t.Fatalf("%s%s: got %d %.80s, %v", x.path, after, status, body, err)
				}
				for _, e := range page {
					if seen[e.Name] {
						t.Errorf("%s: %s is listed twice", x.path, e.Name)
					}
					seen[e.Name] = true
					after = "?after=" + e.Name
				}
				sizes = append(sizes, len(page))
			}
			if fmt.Sprint(sizes) != x.sizes {
				t.Errorf("%s: got pages of %v, want %s", x.path, sizes, x.sizes)
			}
		}
		if status, _ := s.ask(t, "GET", "/replays?after=none.ssr", "", ""); status != 404 {
			t.Errorf("after a replay that is not there: got %d, want 404", status)
		}
	})
}

// Operators set the rates of an address. Each refusal is counted, and a bounded number of lines names the address.
func TestTurnedAway(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MaxReads: 5, MaxGuesses: 3}}}, func(t *testing.T, s *stage) {
		greedy := s.from(t, "198.51.100.1")
		for _, x := range []struct {
			reason, path, token string
			passed              int
		}{
			{"reading", "/matches", "", 5},
			{"guessing", "/matches/duel/bans", "wrong-wrong-wrong-wrong", 3},
		} {
			refused := 0
			for range 100 {
				if status, _ := greedy.ask(t, "GET", x.path, x.token, ""); status == http.StatusTooManyRequests {
					refused++
				}
			}
			if refused != 100-x.passed {
				t.Errorf("%s: got %d refusals, want %d", x.reason, refused, 100-x.passed)
			}
			lines := s.lines("turned away", "level=WARN", "reason="+x.reason, "address=198.51.100.1")
			if len(lines) != 10 {
				t.Errorf("%s: got %d lines %q, want 10", x.reason, len(lines), lines)
			}
			_, metrics := s.from(t, "203.0.113.1").ask(t, "GET", "/metrics", ops, "")
			if want := fmt.Sprintf(`samestep_turned_away_total{reason=%q} %d`, x.reason, refused); !strings.Contains(string(metrics), want) {
				t.Errorf("want %s", want)
			}
			time.Sleep(2 * time.Second)
			greedy.ask(t, "GET", x.path, x.token, "")
			for range 5 {
				greedy.ask(t, "GET", x.path, x.token, "")
			}
			if len(s.lines("turned away", "reason="+x.reason, "omitted=")) == 0 {
				t.Errorf("%s: no line says how many were left out", x.reason)
			}
		}
		if lines := s.lines("wrong-wrong"); len(lines) > 0 {
			t.Errorf("a token is in the log: %q", lines)
		}
	})
}

// The reads of an address have a rate, and no other address waits for it.
func TestReadRate(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Replays: true}}, func(t *testing.T, s *stage) {
		greedy, other := s.from(t, "198.51.100.1"), s.from(t, "203.0.113.1")
		for round := range 2 {
			statuses := map[int]int{}
			for i := range 100 {
				path := []string{"/matches", "/replays", "/matches/duel/schemas", "/matches/duel"}[i%4]
				status, _ := greedy.ask(t, "GET", path, "", "")
				statuses[status]++
			}
			if statuses[200] != 50 || statuses[429] != 50 {
				t.Errorf("round %d: got %v, want 50 of 200 and of 429", round, statuses)
			}
			if status, _ := other.ask(t, "GET", "/matches", "", ""); status != 200 {
				t.Errorf("round %d: somebody else: got %d", round, status)
			}
			time.Sleep(time.Second)
		}
	})
}
