package server_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Those who come again and again to a match that has ended do not keep it, nor
// its replay from being completed.
func TestEndedMatchGoes(t *testing.T) {
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

// A game that panics when its match begins refuses the match, whose name stays
// free and who leaves no replay.
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

// Scenario 60: a reason that is cut to the size of a close frame stays UTF-8,
// wherever the cut falls.
func TestCloseReasonIsText(t *testing.T) {
	for pad := range 4 {
		s := newStage(t, setup{})
		r := s.raw(t, ada, lockstep.SessionToken{}, 0).live()
		reason := strings.Repeat("x", pad) + strings.Repeat("\U0001F40C", 40)
		s.do(t, func(h *lockstep.Host) { h.Remove(0, 0, reason) })
		if got := r.end(); got != lockstep.CloseKicked {
			t.Errorf("closed with %d, want %d", got, lockstep.CloseKicked)
		}
		var e websocket.CloseError
		if !errors.As(r.err, &e) || len(e.Reason) < 117 || !utf8.ValidString(e.Reason) || !strings.HasPrefix(reason, e.Reason) {
			t.Errorf("closed with %v, want the beginning of the reason", r.err)
		}
	}
}
