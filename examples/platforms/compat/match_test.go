//go:build !js

package compat_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// tenMinutes returns the ticks of ten minutes, or of one in a small test.
func tenMinutes(t *testing.T) int64 {
	if testenv.Small(t) {
		return 60 * 60
	}
	return 10 * 60 * 60
}

// Three clients play for ten minutes of the match, and a fourth watches. Every checksum agrees, one asks for the state in
// the middle, one comes back after its connection was cut, and the replay verifies.
func TestMatch(t *testing.T) {
	length := tenMinutes(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{players: 3})
		clients := []*foreigner{s.join(t, tokenOf(0)), s.join(t, tokenOf(1)), s.join(t, tokenOf(2)), s.connect(t)}
		clients[3].send(t, "kind", "auth", "token", "")
		var done sync.WaitGroup
		for i, f := range clients {
			done.Go(func() {
				for tick := int64(50); tick <= length; tick += 50 {
					f.until(t, tick)
					switch {
					case f.player == 0:
					case tick%150 == 0:
						f.jump(t, f.unit())
					default:
						f.move(t, (tick/50+int64(i))%3-1, f.unit(), 3, f.unit())
					}
					if i == 1 && tick == length/2 {
						f.send(t, "kind", "state_sync_request")
					}
				}
			})
		}
		done.Wait()
		for i, f := range clients[:3] {
			if int64(f.ran) < length/60 || f.wrong > 0 || len(f.errors) > 0 || len(f.reports) > 0 {
				t.Errorf("client %d: %d commands ran, %d without their receipt, errors %q, reports %v", i, f.ran, f.wrong, f.errors, f.reports)
			}
		}
		if clients[1].syncs != 2 {
			t.Errorf("got %d states, want 2", clients[1].syncs)
		}
		if got := s.verify(t); int64(got) < 3*length/60 {
			t.Errorf("the replay has %d commands", got)
		}
	})
}

// Everybody hears of the first two checksums of a tick that differ, once, and a state heals.
func TestDesync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{})
		a, b, watcher := s.join(t, tokenOf(0)), s.join(t, tokenOf(1)), s.join(t, "")
		a.alter = 200
		for _, f := range []*foreigner{a, b, watcher} {
			f.until(t, 260)
		}
		for _, f := range []*foreigner{a, b, watcher} {
			if len(f.reports) != 1 || number(f.reports[0]["tick"]) != 200 {
				t.Fatalf("got reports %v, want one of tick 200", f.reports)
			}
			if sums := f.reports[0]["checksums"].(map[string]any); len(sums) != 2 {
				t.Errorf("got checksums %v, want two", sums)
			}
		}
		a.send(t, "kind", "state_sync_request")
		for a.until(t, 450); b.next < 450; {
			b.until(t, 450)
		}
		if a.syncs != 2 || len(b.reports) != 1 {
			t.Errorf("got %d states and %d reports, want a second state and no second report", a.syncs, len(b.reports))
		}
		watcher.ws.CloseNow()
		s.verify(t)
	})
}

// A client that loses its connection has its seat again with its token, and may count from 1 again.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setup{})
		a := s.join(t, tokenOf(0))
		a.move(t, 1, a.unit())
		a.until(t, 20)
		a.ws.CloseNow()
		time.Sleep(time.Second)
		b := s.join(t, tokenOf(0))
		if b.player != a.player {
			t.Errorf("got player %d, want %d", b.player, a.player)
		}
		b.move(t, -1, b.unit())
		b.until(t, 200)
		if b.ran != 1 || b.wrong > 0 || len(b.errors) > 0 {
			t.Errorf("%d commands ran, %d wrong, errors %q", b.ran, b.wrong, b.errors)
		}
		if got := s.verify(t); got != 2+3 {
			t.Errorf("the replay has %d commands, want 2, and that the player has joined, was lost and came back", got)
		}
	})
}

// An unknown token is turned away without a word, or watches.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStage(t, setup{}).connect(t)
		f.send(t, "kind", "auth", "token", "nobody")
		if err := f.read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
			t.Errorf("got %v, want status 1000", err)
		}
		x := setup{}
		x.options.Strangers = true
		s := newStage(t, x)
		f = s.join(t, "nobody")
		f.until(t, 50)
		if f.move(t, 1, 8); f.player != 0 {
			t.Errorf("got player %d, want none", f.player)
		}
		f.until(t, 100)
		if len(f.errors) != 1 {
			t.Errorf("got errors %q, want one for the command", f.errors)
		}
	})
}
