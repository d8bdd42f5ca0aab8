//go:build !js

package server_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// interruptedDuel returns the content of a log that a crash has left open after 60 ticks or more, with a keyframe every
// 20 ticks, and its file name.
func interruptedDuel(t *testing.T) (log []byte, name string) {
	t.Helper()
	s := newStage(t, setup{pipes: true, settings: func(x *lockstep.Settings) {
		x.TickMicros, x.CheckEvery, x.KeyframeEvery = lockstep.TickPeriod(20), 10, 20
	}})
	a := s.join(t, ada, wander)
	eventually(t, "it plays", func() bool { return a.tick() > 130 })
	path := s.crash(t)
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return log, filepath.Base(path)
}

// recovering returns a stage on which the minimal game, changed by step, recovers the logs with these names in its live
// folder. The results come in any order.
func recovering(t *testing.T, logs map[string][]byte, step func(w *minimal.World, tick lockstep.Tick)) (*stage, chan recovered) {
	t.Helper()
	return recoveringWith(t, logs, step, nil)
}

// recoveringWith is recovering with bans and revocations that are not in the server's folder, unless they are nil.
func recoveringWith(t *testing.T, logs map[string][]byte, step func(w *minimal.World, tick lockstep.Tick), denials server.Denials) (*stage, chan recovered) {
	t.Helper()
	s := &stage{dir: t.TempDir(), log: &logWriter{}}
	live := filepath.Join(s.dir, "live")
	if err := os.Mkdir(live, 0o700); err != nil {
		t.Fatal(err)
	}
	rules := minimal.Rules()
	before := rules.Step
	rules.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
		step(w, turn.Tick)
		before(w, c, turn)
	}
	s.game = lockstep.MustGame(rules)
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	s.server, err = server.New(server.Options{Dir: s.dir, Denials: denials, Authorizer: tokens, AllowedHosts: []string{"server"}, KeepOpen: true, Log: slog.New(slog.NewTextHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var all []server.Interrupted
	for name, log := range logs {
		path := filepath.Join(live, name)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, server.Interrupted{Path: path, Spec: server.MatchSpec{Game: s.game}})
	}
	results := make(chan recovered, len(all))
	s.server.Recover(all, func(one server.Interrupted, m *server.Match, err error) { results <- recovered{one.Path, m, err} })
	s.listen(t, true)
	return s, results
}

// turnedAway checks that a player is told to come back later.
func (s *stage) turnedAway(t *testing.T) {
	t.Helper()
	r, err := s.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	a := protocol.NewAuth(s.game)
	a.Token = ada
	go r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a}) // which nobody may read
	if code := r.end(); code != protocol.CloseBusy || r.closing.RetryMS < 1000 {
		t.Errorf("a player: got %+v, %v, want busy with a time to come back", r.closing, r.err)
	}
}

type recovered struct {
	path  string
	match *server.Match
	err   error
}

// While a match is recovering, everybody is told to come back. A log that cannot be recovered stays and blocks no other.
func TestRecover(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		bad := []byte(strings.Clone(string(log)))
		bad[len(bad)-20] ^= 1
		gate := make(chan struct{})
		s, results := recovering(t, map[string][]byte{name: log, "bad" + strings.TrimPrefix(name, "duel"): bad}, func(*minimal.World, lockstep.Tick) { <-gate })
		answer, err := s.client.Get("http://" + s.host + "/matches/duel")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
			t.Errorf("the match: got %d, Retry-After %q", answer.StatusCode, answer.Header.Get("Retry-After"))
		}
		var list []server.Status
		if _, body := s.ask(t, "GET", "/matches", "", ""); json.Unmarshal([]byte(body), &list) != nil || list[len(list)-1].Name != "duel" || list[len(list)-1].State != "recovering" {
			t.Errorf("the list: got %s", body)
		}
		if _, body := s.ask(t, "GET", "/metrics", "", ""); !strings.Contains(body, `samestep_matches{state="starting"} 0`) || strings.Contains(body, `samestep_matches{state="recovering"} 0`) {
			t.Errorf("the metrics know no recovering match: %s", body)
		}
		s.turnedAway(t)
		settings := lockstep.DefaultSettings(2)
		if _, err := s.server.Create(server.MatchSpec{Name: "duel", Game: s.game, Settings: settings, Config: &minimal.Config{Size: 50, Coins: 5}}); !errors.Is(err, server.ErrExists) {
			t.Errorf("a fresh match of the name: got %v", err)
		}
		close(gate)
		for range 2 {
			got := <-results
			if filepath.Base(got.path) == name {
				if got.err != nil {
					t.Fatal(got.err)
				}
				continue
			}
			if damage := (*replay.DamageError)(nil); !errors.As(got.err, &damage) {
				t.Errorf("a damaged log: got %v", got.err)
			}
			if b, err := os.ReadFile(got.path); err != nil || string(b) != string(bad) {
				t.Errorf("the damaged log does not stay: %v", err)
			}
			if text := s.log.String(); !strings.Contains(text, `msg="match not resumed" match=bad id=`) || !strings.Contains(text, " path="+got.path) {
				t.Errorf("the damaged log is not named in %s", text)
			}
			fresh := server.MatchSpec{Name: "bad", Game: s.game, Settings: settings, Config: &minimal.Config{Size: 50, Coins: 5}}
			if _, err := s.server.Create(fresh); !errors.Is(err, server.ErrExists) || !strings.Contains(err.Error(), filepath.Base(got.path)) {
				t.Errorf("a fresh match of the damaged log's name: got %v", err)
			}
		}
		back := s.join(t, ada, wander)
		eventually(t, "it goes on", func() bool { return back.tick() > 150 })
	})
}

// A recovery simulates the end of a match and compares it, and then the beginning in the background. A difference in the
// beginning is reported and ends nothing.
func TestRecoverFromKeyframe(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		logs := map[string][]byte{name: log}
		differ := func(at func(lockstep.Tick) bool) func(*minimal.World, lockstep.Tick) {
			return func(w *minimal.World, t lockstep.Tick) {
				if at(t) {
					w.Dots[0].Coins++
				}
			}
		}
		s, results := recovering(t, logs, differ(func(t lockstep.Tick) bool { return t == 5 }))
		if got := <-results; got.err != nil {
			t.Errorf("a difference in the beginning: got %v", got.err)
		}
		eventually(t, "the difference is counted", func() bool {
			_, body := get(s.server, "/metrics")
			return strings.Contains(body, "samestep_recovery_mismatches_total 1")
		})
		if text := s.log.String(); !strings.Contains(text, "does not agree with its log") {
			t.Errorf("the difference is not logged: %s", text)
		}
		a := s.join(t, ada, wander)
		eventually(t, "it goes on", func() bool { return a.tick() > 150 })

		_, results = recovering(t, logs, differ(func(t lockstep.Tick) bool { return t > 40 }))
		desync := (*lockstep.DesyncError)(nil)
		if got := <-results; !errors.As(got.err, &desync) || desync.Tick > 50 {
			t.Errorf("a difference to the end: got %v, want the first one", got.err)
		}
	})
}

// The log of a match that is over leaves the live folder when a start finds it there.
func TestRecoverFindsEnd(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		first := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}})
		name := filepath.Base(first.match.ReplayPath())
		if err := first.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-first.match.Done()
		log, err := os.ReadFile(first.match.ReplayPath())
		if err != nil {
			t.Fatal(err)
		}
		s, results := recovering(t, map[string][]byte{name: log}, func(*minimal.World, lockstep.Tick) {})
		if got := <-results; !errors.Is(got.err, server.ErrNotInterrupted) {
			t.Errorf("got %v, want %v", got.err, server.ErrNotInterrupted)
		}
		if files := s.files(t, "*"); len(files) != 1 || files[0] != filepath.Join(s.dir, name) {
			t.Errorf("got the files %v, want %s outside of the live folder", files, name)
		}
	})
}

// A crash in the first moment of a match can leave a log without a header. It is named, and its name is free.
func TestRecoverEmptyLog(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		s, results := recovering(t, map[string][]byte{name: log[:32]}, func(*minimal.World, lockstep.Tick) {})
		if got := <-results; !errors.Is(got.err, server.ErrNeverBegan) {
			t.Errorf("got %v, want %v", got.err, server.ErrNeverBegan)
		}
		settings := lockstep.DefaultSettings(2)
		if _, err := s.server.Create(server.MatchSpec{Name: "duel", Game: s.game, Settings: settings, Config: &minimal.Config{Size: 50, Coins: 5}}); err != nil {
			t.Errorf("a fresh match of the name: got %v", err)
		}
	})
}

// A match has its header on the disk before anybody can join, so that every crash later can be resumed.
func TestHeaderIsWritten(t *testing.T) {
	s := newStage(t, setup{})
	r, err := replay.OpenNoFollow(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if h, err := r.Header(); err != nil || h.Game != "minimal" {
		t.Errorf("got %v, %v", h, err)
	}
}
