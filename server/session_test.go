//go:build !js

package server_test

import (
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Scenario 18: a player whose network was away resumes within the grace time, without a keyframe.
func TestResumeAfter(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{0, time.Second, 5 * time.Second, 15 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			inBubble(t, setup{}, func(t *testing.T, s *stage) {
				a, b := s.join(t, ada, wander), s.join(t, bob, wander)
				time.Sleep(3 * time.Second)
				before := s.stats(t)
				s.pipes.broken.Store(true)
				a.Cut()
				time.Sleep(away)
				s.pipes.broken.Store(false)
				eventually(t, "it resumes", func() bool { return has[player.StreamResumed](a) })
				time.Sleep(3 * time.Second)
				after := s.stats(t)
				if after.Resumes != before.Resumes+1 || after.Syncs != before.Syncs {
					t.Errorf("got %d resumes and %d keyframes, want 1 and 0", after.Resumes-before.Resumes, after.Syncs-before.Syncs)
				}
				s.agree(t, a, b)
			})
		})
	}
}

// agree checks that clients have compared checksums, and that all were right.
func (s *stage) agree(t *testing.T, clients ...*testClient) {
	t.Helper()
	now := s.stats(t).Tick
	for i, g := range clients {
		st := g.status()
		if st.Agreed == 0 || st.Differing > 0 || st.Tick+20 < now {
			t.Errorf("guest %d: at tick %d of %d, %d checksums agreed and %d differed", i, st.Tick, now, st.Agreed, st.Differing)
		}
	}
}

// Scenario 18, beyond the grace time: the seat is lost, the session is invalid, and the token is still valid.
func TestReturnAfterGrace(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, wander)
		first := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		first.ws.CloseNow()
		time.Sleep(31 * time.Second)
		again := s.raw(t, "", first.welcome.Session, first.position)
		if code := again.end(); code != protocol.CloseRefused || again.errors[protocol.ErrorRefused] != 1 {
			t.Errorf("the old session: closed with %v, errors %v", code, again.errors)
		}
		back := s.raw(t, ada, first.welcome.Session, first.position).live()
		if back.welcome.Seat != 0 || back.welcome.Resumed {
			t.Errorf("got %+v, want seat 0 and a keyframe", back.welcome)
		}
		s.agree(t, b)
	})
}

// Scenarios 4 and 19: an answer is lost with its connection. The client sends the command again over the next one,
// gets the same answer, and the command runs once.
func TestResumeWithLostAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		kind, payload, err := s.game.NewPayloads().Encode(&minimal.Go{X: 3, Y: 4})
		if err != nil {
			t.Fatal(err)
		}
		watcher := s.raw(t, press, protocol.SessionToken{}, 0).live()
		const rounds = 20
		for n := range lockstep.Sequence(rounds) {
			command := &protocol.Message{Kind: protocol.KindCommand, Sequence: n + 1, Command: kind, Bytes: payload}
			r.say(command)
			time.Sleep(100 * time.Millisecond)
			r.ws.CloseNow() // the answer was not read
			r = s.raw(t, "", r.welcome.Session, r.position).welcomed()
			if !r.welcome.Resumed || r.welcome.LastSequence != n+1 {
				t.Fatalf("round %d: got %+v", n, r.welcome)
			}
			r.say(command)
			if !r.read(func() bool { return r.counts[protocol.KindCommandAccepted] == 1 }) {
				t.Fatalf("round %d: no answer", n)
			}
		}
		time.Sleep(time.Second)
		end := s.stats(t).Tick
		watcher.read(func() bool { return watcher.tick >= end })
		if got := watcher.commands[0]; got != rounds {
			t.Errorf("got %d commands in the frames, want %d", got, rounds)
		}
	})
}

// returning lets players come back as often as they like.
var returning = host.Options{Rates: host.Rates{Returns: host.Rate{N: 1000, Per: lockstep.Second, Burst: 1000}}}

// Scenario 20: two connections use the same token or the same session at the same instant. One of them has the
// seat, and the other is told so.
func TestOneOwnerOfASeat(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, wander)
		session := s.raw(t, ada, protocol.SessionToken{}, 0).live().welcome.Session
		rounds := 200
		if testenv.Small(t) {
			rounds = 50
		}
		for n := range rounds {
			var both [2]*raw
			var wait sync.WaitGroup
			for i := range both {
				wait.Go(func() {
					if n%2 == 0 {
						both[i] = s.raw(t, ada, protocol.SessionToken{}, 0)
					} else {
						both[i] = s.raw(t, "", session, 0)
					}
				})
			}
			wait.Wait()
			owners := 0
			for _, r := range both {
				wait.Go(func() { r.read(func() bool { return r.closing != nil || r.welcome != nil && r.tick > r.welcome.Tick }) })
			}
			wait.Wait()
			s.do(t, func(h *host.Host) {
				for _, p := range h.Info().Peers() {
					if p.Seat == 0 && p.State != host.Closed {
						owners++
					}
				}
			})
			s.stats(t)
			if owners != 1 {
				t.Fatalf("round %d: got %d owners, want 1", n, owners)
			}
			replaced := 0
			for _, r := range both {
				if r.closing != nil && protocol.CloseCode(r.closing.Code) == protocol.CloseReplaced {
					replaced++
				} else {
					session = r.welcome.Session
				}
			}
			if replaced != 1 {
				t.Fatalf("round %d: %d were replaced, want 1", n, replaced)
			}
			for _, r := range both {
				r.ws.CloseNow()
			}
		}
		s.agree(t, b)
	})
}

// Scenarios 21 and 22: used, unknown and expired sessions and guessed tokens get the same refusal. They count
// together with those over HTTP.
func TestStaleSessionsAndGuesses(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		first := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		second := s.raw(t, "", first.welcome.Session, first.position).welcomed()
		third := s.raw(t, "", second.welcome.Session, second.position).welcomed()
		third.say(&protocol.Message{Kind: protocol.KindPing, Nonce: 1}) // its welcome has arrived
		third.read(func() bool { return third.counts[protocol.KindPong] > 0 })
		refused := 0
		var texts = map[string]int{}
		for n := range 60 {
			session, token := first.welcome.Session, ""
			switch n % 4 {
			case 1:
				session = second.welcome.Session
			case 2:
				session = protocol.SessionToken{byte(n), 1, 2, 3}
			case 3:
				session, token = protocol.SessionToken{}, "ada-ada-ada-ada-adb"
			}
			r, err := s.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			a := protocol.NewAuth(s.game)
			a.Session, a.Token = session, token
			r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
			if code := r.end(); code != protocol.CloseRefused || r.welcome != nil {
				t.Errorf("attempt %d: closed with %v, welcome %+v", n, code, r.welcome)
			}
			texts[r.closing.Text]++
			refused++
		}
		if refused != 60 || len(texts) != 1 {
			t.Errorf("got %d refused with %v, want 60 and one text", refused, texts)
		}
		if status, _ := s.ask(t, "DELETE", "/matches/duel", "wrong-wrong-wrong-wrong", ""); status != 429 {
			t.Errorf("a guess over HTTP: got %d, want 429", status)
		}
	})
}

// Scenario 23 and P9: a client that takes its seat again and again, or requests keyframes again and again, gets a
// limited number of them.
func TestKeyframeFlood(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, wander)
		time.Sleep(time.Second)
		b.gap()
		const tries = 100
		limited := 0
		for range tries { // the first 20 are welcomed
			r := s.raw(t, ada, protocol.SessionToken{}, 0)
			r.read(func() bool { return r.welcome != nil || r.closing != nil })
			if r.closing != nil && protocol.CloseCode(r.closing.Code) == protocol.CloseBusy {
				limited++
			}
			r.ws.CloseNow()
		}
		if limited != tries-20 {
			t.Errorf("%d of %d were told that it is too often, want %d", limited, tries, tries-20)
		}
		time.Sleep(60 * time.Second)
		before := s.stats(t)
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		for range tries {
			r.say(&protocol.Message{Kind: protocol.KindStateSyncRequest})
			r.read(func() bool { return r.tick%2 == 0 })
			time.Sleep(200 * time.Millisecond)
			r.ack()
		}
		r.read(func() bool { return r.errors[protocol.ErrorLimit] >= 15 })
		after := s.stats(t)
		if n := after.Syncs - before.Syncs; n > 7 { // one to join, 4 and what a minute gives back
			t.Errorf("got %d keyframes, want at most 7", n)
		}
		if made := after.SyncKeyframes - before.SyncKeyframes; made > 6 {
			t.Errorf("%d keyframes were made in 20 s, want at most one in 5 s", made)
		}
		if worst := b.gap(); worst > 60*time.Millisecond {
			t.Errorf("another player waited %v for a tick", worst)
		}
		s.agree(t, b)
	})
}
