//go:build !js

package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// written returns the last tick in the file of the match, as a crash of the process leaves it now.
func (s *stage) written(t *testing.T) lockstep.Tick {
	t.Helper()
	b, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, s.game, replay.VerifyOptions{Workers: 1})
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return v.Ticks
}

// A match that stands still loses nothing by a crash of the process, whoever has paused it, and however few ticks there
// were since the last second.
func TestStandingIsWritten(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"a player", "an admin"} {
		path := map[string]string{"a player": "/matches/duel/pause?seat=0", "an admin": "/matches/duel/pause"}[by]
		for delay := range 5 {
			t.Run(fmt.Sprintf("paused by %s %d", by, delay), func(t *testing.T) {
				inBubble(t, setup{}, func(t *testing.T, s *stage) {
					<-s.join(t, ada, wander).Ready()
					time.Sleep(2*time.Second + time.Duration(delay)*230*time.Millisecond)
					s.ask(t, "POST", path, ops, "")
					time.Sleep(200 * time.Millisecond)
					if got, want := s.written(t), s.stats(t).Tick; got != want {
						t.Errorf("the file ends at tick %d, the match stands at tick %d", got, want)
					}
				})
			})
		}
	}
}

// A slow match is written each second, though that is less than the ticks of a second.
func TestSlowIsWritten(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		s.ask(t, "POST", "/matches/duel/speed?percent=10", ops, "")
		for range 9 {
			time.Sleep(1050 * time.Millisecond)
			if got, want := s.written(t), s.stats(t).Tick; got+3 < want {
				t.Errorf("the file ends at tick %d, the match is at tick %d: want 2 ticks a second", got, want)
			}
		}
	})
}

// Each pause outlives a crash and a stop, and so does its end.
func TestPauseIsResumed(t *testing.T) {
	t.Parallel()
	for i, row := range []struct {
		steps []string
		held  bool
	}{
		{[]string{"pause"}, true},
		{[]string{"pause", "resume"}, false},
		{[]string{"pause", "resume", "pause"}, true},
		{[]string{"pause?seat=0"}, true},
		{[]string{"pause?seat=0", "resume"}, false},
		{[]string{"pause?seat=0", "pause"}, true},
	} {
		for _, polite := range []bool{false, true} {
			if testenv.Small(t) && polite != (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprint(row.steps, polite), func(t *testing.T) {
				inBubble(t, setup{}, func(t *testing.T, s *stage) {
					<-s.join(t, ada, wander).Ready()
					time.Sleep(1300 * time.Millisecond)
					for _, step := range row.steps {
						if status, body := s.ask(t, "POST", "/matches/duel/"+step, ops, ""); status != 200 {
							t.Fatalf("%s: got %d %s", step, status, body)
						}
						time.Sleep(1200 * time.Millisecond)
					}
					at := s.stats(t).Tick
					if polite {
						if err := s.server.Shutdown(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					for range 2 { // and once more
						path := s.crash(t)
						s = newStage(t, setup{pipes: true, interrupted: path, options: server.Options{KeepOpen: true}})
						time.Sleep(2 * time.Second)
					}
					got := s.stats(t).Tick
					if held := got < at+10; held != row.held || held && got != at {
						t.Errorf("stopped at tick %d, after a resume at tick %d; want it to stand: %t", at, got, row.held)
					}
					if row.held {
						s.ask(t, "POST", "/matches/duel/resume", ops, "")
						if time.Sleep(2 * time.Second); s.stats(t).Tick < at+10 {
							t.Errorf("the resume has no effect: tick %d after tick %d", s.stats(t).Tick, at)
						}
					}
				})
			})
		}
	}
}
