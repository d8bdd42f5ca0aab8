//go:build !js

package server_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// readiness checks the answers of GET /readyz, of POST /matches and of the metrics.
func (s *stage) readiness(t *testing.T, wantReady int, wantText string, wantCreate int) {
	t.Helper()
	status, text := s.ask(t, "GET", "/readyz", "", "")
	if status != wantReady || !strings.Contains(text, wantText) || strings.Contains(text, s.dir) {
		t.Errorf("got %d and %q, want %d with %q", status, text, wantReady, wantText)
	}
	ready := 0.0
	if wantReady == 200 {
		ready = 1
	}
	if got := s.metric(t, "samestep_ready"); got != ready {
		t.Errorf("got samestep_ready %v, want %v", got, ready)
	}
	status, text = s.ask(t, "POST", "/matches", ops, `{"Name":"probe"}`)
	if status != wantCreate || strings.Contains(text, s.dir) {
		t.Errorf("created: got %d and %q, want %d", status, text, wantCreate)
	}
	if wantCreate == 201 {
		m := s.server.Matches()[1]
		s.ask(t, "DELETE", "/matches/probe", ops, "")
		<-m.Done()
	}
	if status, _ := s.ask(t, "GET", "/healthz", "", ""); status != 200 {
		t.Errorf("healthz: got %d, want 200: the process is well", status)
	}
}

// A server whose disk is full, or whose folder is gone or cannot be written, is not ready and creates no match. It is
// ready again when the cause is gone.
func TestReadiness(t *testing.T) {
	t.Parallel()
	var free atomic.Int64
	free.Store(1 << 30)
	inBubble(t, setup{options: server.Options{NewMatch: newMatch}}, func(t *testing.T, s *stage) {
		s.server.SetFreeBytes(func(string) (int64, bool) { return free.Load(), true })
		again := func() { time.Sleep(2 * time.Second) } // the last check is too old
		s.readiness(t, 200, "ready\n", 201)

		free.Store(64<<20 - 1)
		again()
		s.readiness(t, 503, "not ready\nthe replay of another match cannot be stored: its disk is full\n", 507)
		if got := s.metric(t, "samestep_disk_free_bytes"); got != 64<<20-1 {
			t.Errorf("got %v free bytes", got)
		}
		free.Store(64 << 20)
		again()
		s.readiness(t, 200, "ready\n", 201)

		if err := os.Rename(s.dir, s.dir+".away"); err != nil {
			t.Skip(err) // systems that keep open files
		}
		again()
		s.readiness(t, 503, "its folder is gone", 507)
		if err := os.WriteFile(s.dir, nil, 0o600); err != nil { // no folder
			t.Fatal(err)
		}
		again()
		s.readiness(t, 503, "its folder cannot be written to", 507)
		if err := os.Remove(s.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(s.dir+".away", s.dir); err != nil {
			t.Fatal(err)
		}
		again()
		s.readiness(t, 200, "ready\n", 201)

		live := filepath.Join(s.dir, "live")
		if err := os.Rename(live, live+".away"); err != nil {
			t.Fatal(err)
		}
		again()
		s.readiness(t, 503, "its folder is gone", 507)
		if err := os.Rename(live+".away", live); err != nil {
			t.Fatal(err)
		}
		again()
		s.readiness(t, 200, "ready\n", 201)
		for _, want := range []string{"level=WARN msg=storage", "its disk is full", "its folder is gone"} {
			if !strings.Contains(s.log.String(), want) {
				t.Errorf("the log has no %q", want)
			}
		}
	})
}

// A disk that does not answer delays the answer for a while only.
func TestReadinessOfAStuckDisk(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{NewMatch: newMatch}}, func(t *testing.T, s *stage) {
		began := time.Now()
		wait := make(chan struct{})
		s.server.SetFreeBytes(func(string) (int64, bool) { <-wait; return 0, false })
		s.readiness(t, 503, "its disk does not answer", 507)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		close(wait)
		time.Sleep(2 * time.Second)
		s.readiness(t, 200, "ready\n", 201)
	})
}

// A held match is in the log as a warning, in the metrics, and in the text of /readyz. A slow disk holds matches, and
// the server could still start another one.
func TestHeldMatchIsVisible(t *testing.T) {
	t.Parallel()
	f := &badFile{}
	inBubble(t, setup{newFile: f.new, options: server.Options{NewMatch: newMatch, Durability: replay.SyncFrame}}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		f.set(func() { f.slow = 20 * time.Second })
		time.Sleep(8 * time.Second)
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != 200 || !strings.Contains(text, "matches held: 1, because the server's disk is slow\n") {
			t.Errorf("slow: got %d and %q", status, text)
		}
		f.set(func() { f.slow, f.full = 0, true })
		time.Sleep(60 * time.Second)
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != 503 || !strings.Contains(text, "matches held: 1, because the server's disk is full\n") {
			t.Errorf("full: got %d and %q", status, text)
		}
		if log := s.log.String(); !strings.Contains(log, `level=WARN msg=match match=duel`) || !strings.Contains(log, `event=held`) {
			t.Error("no warning in the log")
		}
		f.set(func() { f.full = false })
		time.Sleep(5 * time.Second)
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != 200 || text != "ready\n" {
			t.Errorf("well: got %d and %q", status, text)
		}
	})
}

// What fails for a reason of the server is answered with a code of 500 or above, and its cause is in the log only.
func TestServerFaults(t *testing.T) {
	panics := minimal.Rules()
	panics.New = func(*minimal.World, *lockstep.Settings, *minimal.Config) error { panic("unlucky") }
	for _, x := range []struct {
		name    string
		change  func(*server.MatchSpec)
		newFile func(string) (server.File, error)
		status  int
		log     string
	}{
		{"the game panics", func(m *server.MatchSpec) { m.Game = lockstep.MustGame(panics) }, nil, 500, "unlucky"},
		{"no file can be made", nil, func(string) (server.File, error) { return nil, errors.New("/secret: too many files") }, 507, "too many files"},
		{"the request is wrong", func(m *server.MatchSpec) { m.Settings.Players = 0 }, nil, 400, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newStage(t, setup{options: server.Options{NewMatch: func(body io.Reader) (server.MatchSpec, error) {
				spec, err := newMatch(body)
				if x.change != nil {
					x.change(&spec)
				}
				return spec, err
			}}})
			if x.newFile != nil {
				s.server.SetNewFile(x.newFile)
			}
			status, text := s.ask(t, "POST", "/matches", ops, `{"Name":"two"}`)
			if status != x.status || strings.Contains(text, "secret") || strings.Contains(text, "unlucky") {
				t.Errorf("got %d and %q, want %d", status, text, x.status)
			}
			if !strings.Contains(s.log.String(), x.log) {
				t.Errorf("the log has no %q:\n%s", x.log, s.log)
			}
		})
	}
}

// A server that has as many matches as it may have is not ready.
func TestReadinessWithMaxMatches(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{NewMatch: newMatch, Limits: server.Limits{MaxMatches: 1}}}, func(t *testing.T, s *stage) {
		s.readiness(t, 503, "got 1 matches, want less than 1", 503)
	})
}
