//go:build !js

package server_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// Clients that reconnect to a finished match again and again keep neither the match nor its replay from being
// completed.
func TestEndedMatchGoes(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		var visitors sync.WaitGroup
		over := make(chan struct{})
		came := make([]int, 4)
		for i := range came {
			visitors.Go(func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(10 * time.Millisecond):
					}
					r, err := s.connect(t)
					if err != nil {
						continue
					}
					came[i]++
					time.Sleep(time.Duration(1500+100*i) * time.Millisecond)
					r.ws.CloseNow()
				}
			})
		}
		time.Sleep(2 * time.Second)
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.match.Done():
		case <-time.After(time.Minute):
			t.Error("the match is still there a minute after its end")
		}
		close(over)
		visitors.Wait()
		for i, n := range came {
			if n < 5 {
				t.Errorf("visitor %d came %d times, want at least 5", i, n)
			}
		}
	})
}

// While a match is held, messages of its clients take bounded memory. Then the clients have to wait.
func TestInboxIsBounded(t *testing.T) {
	const clients, each = 30, 20
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{MaxPerAddress: clients}}})
	var all []*raw
	for range clients {
		all = append(all, s.raw(t, press, protocol.SessionToken{}, 0).live())
	}
	before := heap()
	stands, goOn := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() { s.do(t, func(*host.Host) { close(stands); <-goOn }) })
	<-stands
	large := make([]byte, protocol.MaxClientMessage)
	for _, r := range all {
		wait.Go(func() {
			for range each {
				r.bytes(large)
			}
		})
	}
	eventually(t, "the inbox is full", func() bool { return heap()-before >= 256*protocol.MaxClientMessage })
	took, still := 0, 0 // until nothing comes beyond that, and what was on its way is collected
	eventually(t, "the memory stays as it is", func() bool {
		now := heap() - before
		if still++; now < took-protocol.MaxClientMessage || now > took+protocol.MaxClientMessage {
			still = 0
		}
		took = now
		time.Sleep(50 * time.Millisecond)
		return still >= 8
	})
	close(goOn)
	const bound = (256 + 3*clients) * 80 << 10 // in the inbox; of each client, what is read, what waits to be read, and what it writes
	if took > bound {
		t.Errorf("%d messages of 64 KiB took %d KiB, want at most %d", clients*each, took>>10, bound>>10)
	}
	wait.Wait()
}

// heap returns the bytes of the heap that are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A game that panics at the start of its match makes Create fail. The name stays free, and there is no replay.
func TestPanicOfANewMatch(t *testing.T) {
	s := newStage(t, setup{})
	rules := minimal.Rules()
	rules.New = func(*minimal.World, *lockstep.Settings, *minimal.Config) error { panic("unlucky") }
	for range 2 {
		_, err := s.server.Create(server.MatchSpec{
			Name: "two", Game: lockstep.MustGame(rules), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9},
		})
		if err == nil || !strings.Contains(err.Error(), "unlucky") {
			t.Errorf("got %v, want the panic", err)
		}
	}
	if files := s.files(t, "two*"); len(files) != 0 {
		t.Errorf("it left %v", files)
	}
}

// Scenario 60: a reason that is cut to the size of a close frame stays UTF-8 at every cut.
func TestCloseReasonIsText(t *testing.T) {
	for pad := range 4 {
		s := newStage(t, setup{})
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		reason := strings.Repeat("x", pad) + strings.Repeat("\U0001F40C", 40)
		s.do(t, func(h *host.Host) { h.Admin().Remove(0, 0, reason) })
		if got := r.end(); got != protocol.CloseKicked {
			t.Errorf("closed with %d, want %d", got, protocol.CloseKicked)
		}
		var e websocket.CloseError
		if !errors.As(r.err, &e) || len(e.Reason) < 117 || !utf8.ValidString(e.Reason) || !strings.HasPrefix(reason, e.Reason) {
			t.Errorf("closed with %v, want the beginning of the reason", r.err)
		}
	}
}

// A match that is being created or resumed during a shutdown does not start. Shutdown waits for it. There is no
// match, no goroutine and no new file, and an interrupted match stays as it was.
func TestCreateDuringShutdown(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		old := newStage(t, setup{pipes: true})
		a := old.join(t, ada, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 })
		crashed := old.crash(t)
		old.stop()
		s := newStage(t, setup{pipes: true, options: server.Options{Limits: server.Limits{GuestMatches: 1}, NewMatch: newMatch}})
		s.match.End(t.Context(), "enough")
		<-s.match.Done()
		creating, goOn := make(chan struct{}, 2), make(chan struct{})
		s.server.SetNewFile(func(path string) (server.File, error) {
			creating <- struct{}{}
			<-goOn
			return replay.Create(path)
		})
		spec := server.MatchSpec{
			Name: "two", Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9},
			OnStart: func(*server.Match) { t.Error("a match has started") },
		}
		var wait sync.WaitGroup
		wait.Go(func() {
			if m, err := s.server.Create(spec); m != nil || !errors.Is(err, server.ErrShutdown) {
				t.Errorf("create: got %v, %v, want %v", m, err, server.ErrShutdown)
			}
		})
		wait.Go(func() {
			if m, err := s.server.Resume(crashed, server.MatchSpec{Game: s.game, OnStart: spec.OnStart}); m != nil || !errors.Is(err, server.ErrShutdown) {
				t.Errorf("resume: got %v, %v, want %v", m, err, server.ErrShutdown)
			}
		})
		<-creating
		<-creating
		early, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.server.Shutdown(early); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shutdown while a match is being created: got %v, want %v", err, context.DeadlineExceeded)
		}
		cancel()
		close(goOn)
		if err := s.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if files := s.files(t, "two*"); len(files) != 0 {
			t.Errorf("shutdown left %v", files)
		}
		wait.Wait()
		if left := s.server.Matches(); len(left) != 0 {
			t.Errorf("got %d matches, want none", len(left))
		}
		again := newStage(t, setup{pipes: true, interrupted: crashed})
		if tick := again.match.Status().Tick; tick < 20 {
			t.Errorf("the interrupted match continues after tick %d, want a later one", tick)
		}
	})
}

// A guest who starts a match during a shutdown leaves no goroutine that waits for its end.
func TestGuestDuringShutdown(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{GuestMatches: 1}, NewMatch: newMatch}})
	creating, goOn := make(chan struct{}), make(chan struct{})
	s.server.SetNewFile(func(path string) (server.File, error) {
		close(creating)
		<-goOn
		return replay.Create(path)
	})
	var wait sync.WaitGroup
	wait.Go(func() {
		if status, body := s.ask(t, "POST", "/matches", ada, `{"Name":"two"}`); status != 503 {
			t.Errorf("got %d %s, want 503", status, body)
		}
	})
	<-creating
	var stopped sync.WaitGroup
	stopped.Go(func() {
		if err := s.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "shutting down", func() bool { status, _ := s.ask(t, "GET", "/healthz", "", ""); return status == 503 })
	close(goOn)
	wait.Wait()
	stopped.Wait()
}
