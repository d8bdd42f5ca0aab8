//go:build !js

package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// ordinary are the statistics that an ordinary caller sees of a running match, as docs/spec/http.md has them.
var ordinary = strings.Fields("by_datagrams desyncs input_delay max_lag peers players referee_faults resyncs skipped spectators tick")

// A toldMatch is a match as the server tells it.
type toldMatch struct {
	Tick     lockstep.Tick
	Settings lockstep.Settings
	Stats    map[string]json.RawMessage
}

// Each way to read a match over HTTP, by each reader, under each policy: who may know the statistics, the seed and the present tick.
func TestReaders(t *testing.T) {
	t.Parallel()
	const delay = 30
	for name, policy := range map[string]host.Options{
		"all":   {},
		"views": {Views: host.ViewPolicy{Only: true}},
		"delay": {SpectatorDelay: delay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, setup{host: policy, options: server.Options{Replays: true, Bundles: true}, rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
				r.Validate, r.View = nil, lockstep.View(seeMap, nil)
			}}, func(t *testing.T, s *stage) {
				eventually(t, "the match plays", func() bool { return s.match.Status().Tick > 2*delay })
				now := s.match.Status().Tick
				for reader, token := range map[string]string{"stranger": "", "player": ada, "admin": ops} {
					for _, path := range []string{"/matches/duel", "/matches"} {
						m := s.told(t, path, token)
						fields := slices.Sorted(maps.Keys(m.Stats))
						if reader == "admin" && len(fields) < 30 || reader != "admin" && !slices.Equal(fields, ordinary) {
							t.Errorf("%s, %s: got the statistics %v", reader, path, fields)
						}
						late := lockstep.Tick(0)
						if name == "delay" && reader == "stranger" {
							late = delay
						}
						if got := m.Tick; got+late < now || got+late > now+20 || string(m.Stats["tick"]) != fmt.Sprint(got) {
							t.Errorf("%s, %s: got tick %d and %s of %d", reader, path, got, m.Stats["tick"], now)
						}
						if (m.Settings.Seed == 0) != (name == "views") {
							t.Errorf("%s, %s: got seed %d", reader, path, m.Settings.Seed)
						}
					}
					replay := "/replays/" + filepath.Base(s.match.ReplayPath())
					for path, want := range map[string]int{"/matches/duel/save": 403, replay: 404, replay + ".zip": 404} {
						if reader == "admin" && want == 403 {
							continue // TestSave
						}
						if status, _ := s.ask(t, "GET", path, token, ""); status != want {
							t.Errorf("%s, %s: got %d, want %d", reader, path, status, want)
						}
					}
					if _, body := s.ask(t, "GET", "/replays", token, ""); strings.Contains(body, "duel") {
						t.Errorf("%s: the running match is among the replays: %s", reader, body)
					}
					status, body := s.ask(t, "GET", "/metrics", token, "")
					if want := map[bool]int{true: 200, false: 403}[name == "all" || reader == "admin"]; status != want || want == 403 && !strings.Contains(body, "--admin-listen") {
						t.Errorf("%s: metrics: got %d, want %d: %.100s", reader, status, want, body)
					}
				}
				if status, _ := s.ask(t, "GET", "/matches/duel", "no-such-token-here", ""); status != 403 {
					t.Errorf("a wrong token: got %d", status)
				}
			})
		})
	}
}

// told returns the match as the server tells it at a path.
func (s *stage) told(t *testing.T, path, token string) (m toldMatch) {
	t.Helper()
	status, body := s.ask(t, "GET", path, token, "")
	err := json.Unmarshal([]byte(strings.Trim(strings.TrimSpace(body), "[]")), &m)
	if status != http.StatusOK || err != nil {
		t.Fatalf("%s: got %d %s, %v", path, status, body, err)
	}
	return m
}

// The list of matches is public, also for the holder of a token for one match: it neither is refused nor counts as a guess.
func TestListWithTokenOfAMatch(t *testing.T) {
	t.Parallel()
	const own = "own-own-own-own-own"
	inBubble(t, setup{tokens: tokenList + "player 0 own duel " + own + "\n", options: server.Options{Limits: server.Limits{MaxGuesses: 5, MaxReads: 20}}}, func(t *testing.T, s *stage) {
		for token, figures := range map[string]bool{"": false, own: false, ada: false, "no-such-token-here": false, ops: true} {
			for range 9 {
				time.Sleep(time.Second)
				if got := s.told(t, "/matches", token); (len(got.Stats) > 30) != figures {
					t.Fatalf("%q: got %d statistics", token, len(got.Stats))
				}
			}
		}
		if status, body := s.ask(t, "GET", "/matches/duel", own, ""); status != 200 {
			t.Errorf("its match: got %d %s", status, body)
		}
		if status, body := s.ask(t, "GET", "/matches/duel", "no-such-token-here", ""); status != 403 {
			t.Errorf("a wrong token after the lists: got %d %s, want 403", status, body)
		}
		crowd := s.from(t, "198.51.100.1")
		for range 60 { // more than an address may ask
			crowd.ask(t, "GET", "/matches", own, "")
		}
		if status, body := crowd.ask(t, "GET", "/matches/duel/bans", "no-such-token-here", ""); status != 403 {
			t.Errorf("a wrong token after many lists: got %d %s, want 403", status, body)
		}
	})
}

// At the address of operators the metrics need no token, and at that of all others there are none.
func TestMetricsOfOperators(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{SpectatorDelay: 30}}, func(t *testing.T, s *stage) {
		r := httptest.NewRequest("GET", "http://"+s.host+"/matches/duel", nil)
		r.Header.Set("Authorization", "Bearer "+ops)
		for name, handler := range map[string]http.Handler{"public": s.server.Public(), "both": s.server} {
			got := httptest.NewRecorder()
			if handler.ServeHTTP(got, r); got.Code != 200 || strings.Contains(got.Body.String(), "state_bytes") != (name == "both") {
				t.Errorf("an admin, %s: got %d %s", name, got.Code, got.Body)
			}
		}
		for name, c := range map[string]struct {
			handler http.Handler
			want    int
		}{"private": {s.server.Private(), 200}, "public": {s.server.Public(), 404}, "both": {s.server, 403}} {
			got := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "http://"+s.host+"/metrics", nil)
			if c.handler.ServeHTTP(got, r); got.Code != c.want {
				t.Errorf("%s: got %d, want %d", name, got.Code, c.want)
			}
		}
	})
}

// A player who may start matches gets no copy of a running match that hides its seed.
func TestNoCopyOfASecret(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		inBubble(t, setup{
			host: host.Options{Views: host.ViewPolicy{Only: only}},
			rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
				r.Validate, r.View = nil, lockstep.View(seeMap, nil)
			},
			options: server.Options{Limits: server.Limits{GuestMatches: 9}, NewMatch: func(io.Reader) (server.MatchSpec, error) {
				return server.MatchSpec{}, nil
			}},
		}, func(t *testing.T, s *stage) {
			like := func(token, name string) (int, string) {
				return s.ask(t, "POST", "/matches", token, `{"name":"`+name+`","like":"`+s.match.Status().Match+`"}`)
			}
			status, body := like(ada, "again")
			if want := map[bool]int{false: 201, true: 400}[only]; status != want || only && !strings.Contains(body, "hides its seed") {
				t.Errorf("views only: %t: got %d %s", only, status, body)
			}
			if status, body := like(ops, "third"); status != 201 {
				t.Errorf("an admin: got %d %s", status, body)
			}
		})
	}
}

// A player does not know the seed of a match that hides it: it chooses none, and its copy of a match that is over has another one.
func TestNoChosenSecret(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		spec := server.MatchSpec{Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}}
		inBubble(t, setup{
			host: host.Options{Views: host.ViewPolicy{Only: only}},
			rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
				r.Validate, r.View = nil, lockstep.View(seeMap, nil)
			},
			options: server.Options{Limits: server.Limits{GuestMatches: 9, GuestMatchesPerAddress: 9}, NewMatch: func(io.Reader) (server.MatchSpec, error) { return spec, nil }},
		}, func(t *testing.T, s *stage) {
			seedOf := func(name string) (seed uint64) {
				for _, m := range s.server.Matches() {
					if m.Name() == name {
						_ = m.Do(t.Context(), func(h *host.Host) { seed = h.Header().Settings.Seed })
					}
				}
				return seed
			}
			first, id := seedOf(s.match.Name()), s.match.Status().Match
			if err := s.match.End(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			<-s.match.Done()
			spec.Game = s.game
			for _, c := range []struct {
				name, token string
				seed        uint64 // that the request asks for
				like        string
				refused     bool
				want        uint64 // 0 for another one than these
			}{
				{"admins", ops, 7, "", false, 7},
				{"admins-copy", ops, 0, id, false, first},
				{"players", ada, 0, "", false, 0},
				{"players-choice", ada, 7, "", only, 7},
				{"players-copy", ada, 0, id, false, map[bool]uint64{false: first}[only]},
			} {
				spec.Name, spec.Settings.Seed = c.name, c.seed
				status, body := s.ask(t, "POST", "/matches", c.token, fmt.Sprintf(`{"name":%q,"like":%q}`, c.name, c.like))
				if c.refused {
					if status != 400 || !strings.Contains(body, "want no seed") {
						t.Errorf("views only: %t, %s: got %d %s, want 400", only, c.name, status, body)
					}
					continue
				}
				if got := seedOf(c.name); status != 201 || c.want > 0 && got != c.want || c.want == 0 && (got == 0 || got == 7 || got == first) {
					t.Errorf("views only: %t, %s: got %d, seed %d; want 201, %d, and for 0 another one than 7 and %d: %s", only, c.name, status, got, c.want, first, body)
				}
			}
		})
	}
}

// A match that another server may continue hides what it hid before: one that was handed over, and one whose log or own code has failed.
func TestUnfinishedMatchStaysSecret(t *testing.T) {
	t.Parallel()
	const delay = 30
	file, away := &badFile{}, &memoryReplicator{}
	for name, c := range map[string]struct {
		ended   string
		options server.Options
		newFile func(string) (server.File, error)
		stop    func(t *testing.T, s *stage)
		open    bool
	}{
		"over":        {"enough", server.Options{}, nil, func(t *testing.T, s *stage) { _ = s.match.End(t.Context(), "enough") }, true},
		"handed over": {"", server.Options{Replicator: &memoryReplicator{}}, nil, func(t *testing.T, s *stage) { s.match.Suspend() }, false},
		"end that is not stored": {"enough", server.Options{Replicator: away}, nil, func(t *testing.T, s *stage) {
			away.set(true, nil)
			go s.match.End(t.Context(), "enough")
			synctest.Wait()
			away.set(true, errors.New("another server has the match"))
		}, false},
		"broken log": {"the log failed", server.Options{}, file.new, func(t *testing.T, s *stage) { file.set(func() { file.broken = 1 }) }, false},
		"panic": {"the match has failed", server.Options{}, nil, func(t *testing.T, s *stage) {
			_ = s.match.Do(t.Context(), func(*host.Host) { panic("of our own code") })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.GuestMatches = 9
			c.options.NewMatch = func(io.Reader) (server.MatchSpec, error) { return server.MatchSpec{}, nil }
			inBubble(t, setup{
				host: host.Options{Views: host.ViewPolicy{Only: true}, SpectatorDelay: delay},
				rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
					r.Validate, r.View = nil, lockstep.View(seeMap, nil)
				},
				options: c.options, newFile: c.newFile,
			}, func(t *testing.T, s *stage) {
				eventually(t, "the match plays", func() bool { return s.match.Status().Tick > 2*delay })
				if _, err := s.connect(t); err != nil { // it answers nothing, so the match waits for it
					t.Fatal(err)
				}
				c.stop(t, s)
				eventually(t, "the match has stopped", func() bool { return c.ended == "" || s.match.Status().Ended != "" })
				if name == "broken log" {
					v := s.match.Status()
					if tick, figures := v.Told(disclosure.Spectator); tick == v.Tick || figures {
						t.Errorf("while others are told of the end: a stranger is told tick %d of %d, figures: %t", tick, v.Tick, figures)
					}
				}
				<-s.match.Done()
				if c.options.Replicator == away {
					away.set(false, nil) // so that other matches can begin
				}
				v := s.match.Status()
				if tick, figures := v.Told(disclosure.Spectator); (tick == v.Tick) != c.open || figures != c.open || !strings.Contains(v.Ended, c.ended) {
					t.Errorf("ended %q: a stranger is told tick %d of %d, figures: %t", v.Ended, tick, v.Tick, figures)
				}
				want := map[bool][2]int{true: {201, 200}, false: {400, 403}}[c.open]
				if status, _ := s.ask(t, "GET", "/metrics", "", ""); status != want[1] {
					t.Errorf("metrics: got %d", status)
				}
				if status, body := s.ask(t, "POST", "/matches", ada, `{"name":"again","like":"`+v.Match+`"}`); status != want[0] {
					t.Errorf("a copy: got %d %s", status, body)
				}
				if status, body := s.ask(t, "POST", "/matches", ops, `{"name":"third","like":"`+v.Match+`"}`); status != 201 {
					t.Errorf("an admin: got %d %s", status, body)
				}
				if name != "panic" {
					return
				}
				resumed, err := s.server.Resume(s.match.ReplayPath(), server.MatchSpec{Game: s.game})
				if err == nil {
					err = resumed.End(t.Context(), "enough")
				}
				if err != nil {
					t.Fatal(err)
				}
				<-resumed.Done()
				if status, body := s.ask(t, "POST", "/matches", ada, `{"name":"fourth","like":"`+v.Match+`"}`); status != 201 {
					t.Errorf("a copy when it is over: got %d %s", status, body)
				}
			})
		})
	}
}

// The replicated log says who may see the match right after its first state, and the server that resumes the match keeps it, whatever
// its own options are.
func TestLogSaysWhoMaySee(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	virtually(t, func(t *testing.T) {
		first := newStage(t, setup{pipes: true, host: host.Options{SpectatorDelay: 30}, options: server.Options{KeepOpen: true, Replicator: r}})
		if first, want := r.beginning(), (disclosure.Policy{Delay: 30}).Event(); len(first) < 3 || !bytes.Equal(first[2], want) {
			t.Errorf("the log begins with %x, want %x as its third record", first, want)
		}
		eventually(t, "the match plays", func() bool { return first.match.Status().Tick > 60 })
		second := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}, interrupted: first.crash(t)})
		eventually(t, "the match goes on", func() bool { return second.match.Status().Tick > 90 })
		now := second.match.Status().Tick
		if got := second.told(t, "/matches/duel", "").Tick; got+30 < now || got+30 > now+20 {
			t.Errorf("a stranger is told tick %d of %d, want 30 less", got, now)
		}
		if err := second.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-second.match.Done()
		if notes := second.notes(t); slices.Index(notes, record.EventDisclosure) != 0 || slices.Contains(notes[1:], record.EventDisclosure) {
			t.Errorf("got the notes %q, want one disclosure", notes)
		}
	})
}
