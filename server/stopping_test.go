//go:build !js

package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

// A resumed match waits for the players who were connected: until they are back, or for Options.AwaitPlayers, or until an
// admin lets it go on.
func TestAwaitPlayers(t *testing.T) {
	t.Parallel()
	const wait = 10 * time.Second
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 && b.tick() > 45 })
		if err := s.server.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := func() *stage {
			return newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true, AwaitPlayers: wait}, interrupted: s.crash(t)})
		}
		held := func(next *stage, name string) {
			time.Sleep(2 * time.Second)
			if v := next.match.Status(); v.Held != "the players have not come back yet" || v.Tick != s.match.Status().Tick {
				t.Errorf("%s: got tick %d, held %q, want tick %d, held", name, v.Tick, v.Held, s.match.Status().Tick)
			}
		}
		goesOn := func(next *stage, name string, since time.Time, want time.Duration) {
			eventually(t, name, func() bool { v := next.match.Status(); return v.Held == "" && v.Tick > s.match.Status().Tick+20 })
			if took := time.Since(since); took < want || took > want+3*time.Second {
				t.Errorf("%s: it went on after %v, want about %v", name, took, want)
			}
			if err := next.match.End(t.Context(), "enough"); err != nil {
				t.Error(err)
			}
			<-next.match.Done()
		}

		began, next := time.Now(), resume()
		held(next, "nobody is back")
		goesOn(next, "nobody comes back", began, wait)

		next = resume()
		began = time.Now()
		next.join(t, ada, wander)
		held(next, "one player is back")
		next.join(t, bob, wander)
		goesOn(next, "both are back", began, 2*time.Second)

		next = resume()
		began = time.Now()
		held(next, "before the admin resumes")
		if status, text := next.ask(t, "POST", "/matches/duel/resume", ops, ""); status != http.StatusOK {
			t.Errorf("resume: got %d %s", status, text)
		}
		goesOn(next, "the admin resumes", began, 2*time.Second)
	})
}

// A server that drains lets its matches end, is not ready, and begins no other match.
func TestDrain(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		s.join(t, ada, wander)
		drained := make(chan error, 1)
		short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := s.server.Drain(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a match: got %v, want that the time is over", err)
		}
		go func() { drained <- s.server.Drain(t.Context()) }()
		if status, _ := s.ask(t, "GET", "/readyz", "", ""); status != http.StatusServiceUnavailable {
			t.Errorf("readyz: got %d, want 503", status)
		}
		if status, _ := s.ask(t, "GET", "/healthz", "", ""); status != http.StatusOK {
			t.Errorf("healthz: got %d, want 200", status)
		}
		if _, err := s.server.Create(server.MatchSpec{Name: "late", Game: s.game, Settings: s.match.Status().Settings}); !errors.Is(err, server.ErrShutdown) {
			t.Errorf("another match: got %v, want %v", err, server.ErrShutdown)
		}
		before := s.match.Status().Tick
		eventually(t, "it plays on", func() bool { return s.match.Status().Tick > before+20 })
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}
