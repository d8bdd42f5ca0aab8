//go:build !js

package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A desync's line says whose machine it was: the session, the build, the platform, the transport and the program.
func TestDesyncLine(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		eventually(t, "both play", func() bool { return a.tick() > 30 && b.tick() > 30 })
		corrupt(t, a.Session, "Dots[0].Coins")
		machine := []string{"build=" + s.game.Build(), `platform="` + strings.Fields(lockstep.Platform())[0], "transport=websocket", "client=Go-http-client"}
		for _, line := range []string{"msg=desync", "event=desynced"} {
			want := append([]string{line, "match=duel", "id=" + s.match.Status().Match, "session=" + a.ID(), "player=0"}, machine...)
			eventually(t, "a line with all of "+strings.Join(want, " "), func() bool { return len(s.lines(want...)) > 0 })
		}
		if all := s.lines("msg=desync", "session="+b.ID()); len(all) > 0 {
			t.Errorf("got %q about the other player", all)
		}
	})
}

// A session has one id over all its connections, which an admin finds with the name; a client that shows none, or a wrong one, has one for
// each connection.
func TestSessionInTheLog(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		a := s.join(t, ada, wander)
		<-a.Ready()
		if err := a.Cut(); err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"joined", "lost", "resumed"} {
			eventually(t, event, func() bool { return len(s.lines("event="+event, "session="+a.ID())) == 1 })
		}
		_, body := s.ask(t, "GET", "/matches/duel/connections", ops, "")
		var all []struct{ Session, Name, Build, Platform string }
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			t.Fatal(err)
		}
		last := all[len(all)-1]
		if last.Session != a.ID() || last.Name != "ada" || last.Build != s.game.Build() || last.Platform == "" {
			t.Errorf("an admin is told %+v", last)
		}
		s.raw(t, bob, protocol.SessionToken{}, 0).live().end()
		eventually(t, "the end of a client that shows no id", func() bool {
			return len(s.lines("event=left", "player=1")) == 1 || len(s.lines("event=lost", "player=1")) == 1
		})
	})
}

// An admin is told what a match costs, and nobody else is.
func TestLoad(t *testing.T) {
	t.Parallel()
	const slow = 70 * time.Millisecond
	x := setup{rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
		step := r.Step
		r.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
			time.Sleep(slow)
			step(w, c, turn)
		}
	}}
	inBubble(t, x, func(t *testing.T, s *stage) {
		time.Sleep(2 * time.Second)
		type load struct {
			Step   struct{ Median_us, P99_us, Longest_us uint32 }
			Late   map[string]uint32
			Memory map[string]int
		}
		told := func(token string) (v struct{ Load *load }) {
			_, body := s.ask(t, "GET", "/matches/duel", token, "")
			if err := json.Unmarshal([]byte(body), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, token := range []string{"", ada, press} {
			if v := told(token); v.Load != nil {
				t.Errorf("%q is told %+v", token, v.Load)
			}
		}
		v := told(ops).Load
		if v == nil {
			t.Fatal("an admin is told nothing")
		}
		us := uint32(slow.Microseconds())
		if v.Step.Median_us != us || v.Step.P99_us < us || v.Step.Longest_us < us {
			t.Errorf("got %+v, want steps of %d µs", v.Step, us)
		}
		if v.Late["times"] == 0 || v.Late["stepping_ms"] == 0 || v.Late["waiting_ms"] != 0 || v.Late["sending_ms"] != 0 {
			t.Errorf("got %v, want all delays by the steps", v.Late)
		}
		if v.Memory["state"] == 0 || v.Memory["ring"] == 0 || v.Memory["queues"] == 0 || v.Memory["bound"] <= v.Memory["ring"]+v.Memory["queues"] {
			t.Errorf("got %v", v.Memory)
		}
	})
}
