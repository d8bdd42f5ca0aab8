//go:build !js

package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// tick is a bit more than the period of the stage's match.
const tick = 51 * time.Millisecond

// Scenario 60: chat beyond the rate is answered, and text that is not UTF-8 closes its sender. Neither reaches other
// clients.
func TestChatFlood(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, wander)
		<-b.Ready()
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		long := strings.Repeat("€", 341) // 1023 bytes
		const lines = 60
		for n := range lines {
			r.say(&protocol.Message{Kind: protocol.KindChat, Text: fmt.Sprint(n%10) + long})
			time.Sleep(20 * time.Millisecond)
		}
		r.read(func() bool { return len(r.chats) >= 6 && r.errors[protocol.ErrorLimit] > 0 })
		if len(r.chats) > 8 {
			t.Errorf("%d lines came through in 1.2 s, want 5 and one a second", len(r.chats))
		}
		r.bytes([]byte{0x92, 38, 0xa3, 'a', 0xe2, 0x82}) // a character cut in half
		if code := r.end(); code != protocol.CloseMalformed {
			t.Errorf("text that is not UTF-8 was closed with %v", code)
		}
		time.Sleep(time.Second)
		notes := 0
		for _, n := range told[player.Note](b) {
			if n.Topic == record.TopicChat {
				notes++
			}
		}
		if notes == 0 || notes > 8 {
			t.Errorf("the other player got %d lines", notes)
		}
		s.agree(t, b)
	})
}

// Scenarios 13, 15, 17 and 59, P4: 300 spectators join at once, and some of them do not read. One keyframe serves
// all, and no player's tick is late.
func TestManyJoinAtOnce(t *testing.T) {
	t.Parallel()
	const crowd = 300
	x := setup{
		host:    host.Options{MaxSpectators: crowd, MaxConnecting: crowd},
		options: server.Options{Limits: server.Limits{MaxPerAddress: 2 * crowd, MaxUnauthenticated: crowd}},
	}
	inBubble(t, x, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		<-a.Ready()
		<-b.Ready()
		time.Sleep(6 * time.Second)
		a.gap()
		before := s.stats(t)
		done := make(chan *raw)
		for n := range crowd {
			go func() {
				r := s.raw(t, press, protocol.SessionToken{}, 0)
				if n%10 > 0 {
					r.live()
				}
				done <- r
			}()
		}
		var all []*raw
		for range crowd {
			all = append(all, <-done)
		}
		after := s.stats(t)
		if made := after.SyncKeyframes - before.SyncKeyframes; made > 2 {
			t.Errorf("%d keyframes were made for %d spectators, want one in 5 s", made, crowd)
		}
		if got := after.Syncs - before.Syncs; got < crowd*9/10 {
			t.Errorf("%d of %d were sent a keyframe", got, crowd)
		}
		if after.Spectators != crowd {
			t.Errorf("got %d spectators, want %d", after.Spectators, crowd)
		}
		if worst := a.gap(); worst > tick {
			t.Errorf("a player waited %v for a tick", worst)
		}
		for _, r := range all {
			r.ws.CloseNow()
		}
		time.Sleep(time.Second)
		if st := s.stats(t); st.Spectators != 0 {
			t.Errorf("%d spectators are left", st.Spectators)
		}
		s.agree(t, a, b)
	})
}

// Scenarios 57 and 58, P6: spectators that stop reading, or read a tenth of the stream, are found by their acks and
// closed. Other clients do not wait.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a := s.join(t, ada, wander)
		<-a.Ready()
		a.gap()
		began := time.Now()
		const stalled = 25
		var readers sync.WaitGroup
		for n := range 2 * stalled {
			r := s.raw(t, press, protocol.SessionToken{}, 0).live()
			if n%2 == 0 { // every now and then it reads one message, and acknowledges
				readers.Go(func() {
					for {
						time.Sleep(3 * time.Second) // by half a second each time it would keep up: it gets batches
						now := r.position
						if !r.read(func() bool { return r.position > now || r.closing != nil }) || r.closing != nil {
							return
						}
						r.ack()
					}
				})
			}
		}
		if st := s.stats(t); st.Spectators != 2*stalled {
			t.Fatalf("got %d spectators", st.Spectators)
		}
		for s.stats(t).Spectators > 0 && time.Since(began) < 5*time.Minute {
			time.Sleep(time.Second)
		}
		readers.Wait()
		st := s.stats(t)
		if st.Spectators > 0 {
			t.Errorf("after %v there are %d of them", time.Since(began), st.Spectators)
		}
		if st.Closed[protocol.CloseSlow]+st.Closed[protocol.CloseTimeout] != 2*stalled {
			t.Errorf("closed: %v", st.Closed)
		}
		if worst := a.gap(); worst > tick {
			t.Errorf("a player waited %v for a tick", worst)
		}
		s.agree(t, a)
	})
}

// Scenario 67: thousands of connections of every sort leave nothing behind.
func TestNothingIsLeft(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{MaxPerAddress: 1000}}, host: returning})
	s.stats(t)
	before := runtime.NumGoroutine()
	rounds := 1000
	if testenv.Small(t) {
		rounds = 200
	}
	for n := range rounds {
		r, err := s.connect(t)
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			a := protocol.NewAuth(s.game)
			a.Token = press
			r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
		}
		if n%4 == 0 {
			r.welcomed()
		}
		r.ws.CloseNow()
	}
	s.client.Transport.(*http.Transport).CloseIdleConnections()
	eventually(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+2 })
	eventually(t, "the match knows", func() bool { return s.stats(t).Peers == [5]int{} })
}

// P1: a match whose game panics ends alone, with a log that is readable up to the last good tick.
func TestPanicOfTheGame(t *testing.T) {
	t.Parallel()
	x := setup{rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
		step := r.Step
		r.Step = func(w *minimal.World, config *minimal.Config, turn *lockstep.Turn) {
			for _, c := range turn.Commands {
				if g, ok := c.Value.(*minimal.Go); ok && g.X == 13 {
					panic("unlucky")
				}
			}
			step(w, config, turn)
		}
	}}
	inBubble(t, x, func(t *testing.T, s *stage) {
		other, err := s.server.Create(server.MatchSpec{
			Name: "other", Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9},
		})
		if err != nil {
			t.Fatal(err)
		}
		a, b := s.join(t, ada, nil), s.join(t, bob, wander)
		<-a.Ready()
		<-b.Ready()
		time.Sleep(2 * time.Second)
		if _, err := a.Submit(&minimal.Go{X: 13}); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		if v := s.match.Status(); !strings.Contains(v.Ended, "unlucky") {
			t.Errorf("the match ended with %q", v.Ended)
		}
		for _, g := range []*testClient{a, b} {
			g.Wait()
			if has[player.Desynced](g) {
				t.Error("a player was said to differ")
			}
		}
		time.Sleep(time.Second)
		var n lockstep.Tick
		if err := other.Do(t.Context(), func(h *host.Host) { n = h.Now() }); err != nil || n < 40 {
			t.Errorf("the other match is at tick %d: %v", n, err)
		}
		v := s.replay(t)
		if v.Ticks < 30 || !strings.Contains(v.Reason, "unlucky") {
			t.Errorf("the replay: %+v", v)
		}
		if p := v.Panic; p == nil || p.Tick != v.Ticks+1 || !p.Again || p.Here != "unlucky" || p.Commands == 0 {
			t.Errorf("the panic in the replay: %+v", p)
		}
		if n := s.metric(t, "samestep_panics_total"); n != 1 {
			t.Errorf("%v panics are counted", n)
		}
		if log := s.log.String(); !strings.Contains(log, "level=ERROR msg=panic") || !strings.Contains(log, "TestPanicOfTheGame") {
			t.Errorf("the log lacks the error with the stack:\n%s", log)
		}
		if m := s.panicBundle(t, "server"); m.Tick != v.Ticks+1 || m.Player != lockstep.System || m.Panic == nil || m.Panic.Text != "unlucky" || !strings.Contains(m.Panic.Stack, "TestPanicOfTheGame") {
			t.Errorf("the bundle has %+v", m)
		}
	})
}

// replay verifies the match's replay.
func (s *stage) replay(t *testing.T) *replay.Verification {
	t.Helper()
	f, err := os.Open(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, s.game, replay.VerifyOptions{})
	if err != nil && !errors.As(err, new(*replay.Panic)) {
		t.Fatal(err)
	}
	return v
}

// notes returns the topics of the notes that System wrote into the replay.
func (s *stage) notes(t *testing.T) (topics []string) {
	t.Helper()
	f, err := replay.OpenNoFollow(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	err = replay.Play(r, nil, func(r *record.Record) error {
		if r.Kind == record.KindEvent && r.Player == lockstep.System {
			topics = append(topics, r.Event)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return topics
}

// A server that shuts down tells its clients when to reconnect, suspends its matches, and admits no client. The next
// server goes on with the match, and no tick that a player saw is lost.
func TestShutdown(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a := s.join(t, ada, wander)
		r := s.raw(t, bob, protocol.SessionToken{}, 0).live()
		silent, err := s.connect(t)
		if err != nil {
			t.Fatal(err)
		}
		<-a.Ready()
		time.Sleep(3 * time.Second)
		go func() {
			if err := s.server.Shutdown(t.Context()); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		}()
		if code := r.end(); code != protocol.CloseShutdown || r.closing.RetryMS != 1000 {
			t.Errorf("closed with %v, %+v", code, r.closing)
		}
		if code := silent.end(); code != protocol.CloseShutdown {
			t.Errorf("one that had not authenticated was closed with %v", code)
		}
		eventually(t, "the player is told", func() bool { return has[player.ServerClosing](a) })
		if e := told[player.ServerClosing](a)[0]; e.RetryAfter != lockstep.Second {
			t.Errorf("told %+v", e)
		}
		<-s.match.Done()
		a.Do(func(c *player.Client) { c.Leave("") })
		a.Wait()
		last := s.match.Status().Tick
		second := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}, interrupted: s.crash(t)})
		if tick := second.match.Status().Tick; tick != last || tick < a.tick() || tick < 50 {
			t.Errorf("suspended at tick %d, resumed at tick %d; the player saw tick %d", last, tick, a.tick())
		}
		b := second.join(t, ada, wander)
		eventually(t, "it goes on", func() bool { return b.tick() > last+20 })
		if err := second.match.End(t.Context(), "enough"); err != nil {
			t.Error(err)
		}
		<-second.match.Done()
		if v := second.replay(t); v.Reason != "enough" || v.Differed > 0 {
			t.Errorf("the replay: %+v", v)
		}
		if notes := second.notes(t); !slices.Equal(notes, []string{"disclosure", "suspended", "resumed"}) {
			t.Errorf("got notes of the system %v", notes)
		}
		if status, _ := s.ask(t, "GET", "/healthz", "", ""); status != 503 {
			t.Errorf("healthz: got %d, want 503", status)
		}
		if _, err := s.server.Create(server.MatchSpec{Name: "late"}); err == nil {
			t.Error("a match was created")
		}
		if _, err := s.connect(t); err == nil {
			t.Error("a client was let in")
		}
	})
}
