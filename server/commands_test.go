//go:build !js

package server_test

import (
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Scenarios 26 and P5: one player floods commands, another sends one of 1 MB. Both are told, and closed if they
// continue. Others notice nothing.
func TestCommandFlood(t *testing.T) {
	t.Parallel()
	list, tokens := players(3)
	settings := func(s *lockstep.Settings) { s.Players = 3 }
	inBubble(t, setup{tokens: list, settings: settings}, func(t *testing.T, s *stage) {
		b := s.join(t, tokens[1], wander)
		<-b.Ready()
		b.gap()
		r := s.raw(t, tokens[0], protocol.SessionToken{}, 0).live()
		kind, payload, err := s.game.NewPayloads().Encode(&minimal.Go{X: 3, Y: 4})
		if err != nil {
			t.Fatal(err)
		}
		const flood = 5000
		go func() {
			var w protocol.Writer // r's own answers pings
			for n := range lockstep.Sequence(flood) {
				r.bytes(w.Append(nil, &protocol.Message{Kind: protocol.KindCommand, Sequence: n + 1, Command: kind, Bytes: payload}))
				if n%50 == 49 {
					time.Sleep(time.Millisecond) // the match has them before the limit of frames counts
				}
			}
		}()
		if code := r.end(); code != protocol.CloseAbuse {
			t.Errorf("the flood was closed with %v, want %v: %v", code, protocol.CloseAbuse, r.err)
		}
		if r.reasons[lockstep.RateLimited] == 0 {
			t.Errorf("nobody told it: %v, %v", r.reasons, r.counts)
		}
		big := s.raw(t, tokens[2], protocol.SessionToken{}, 0).live()
		go big.bytes(make([]byte, 1<<20))
		if code := big.end(); code != 0 {
			t.Errorf("1 MB was closed with %v, want a close frame alone", code)
		}
		time.Sleep(time.Second)
		if n := s.stats(t).Commands; n > 500 {
			t.Errorf("%d of %d commands are in the log", n, flood)
		}
		if worst := b.gap(); worst > tick {
			t.Errorf("another player waited %v for a tick", worst)
		}
		s.agree(t, b)
	})
}

// Scenarios 24 and 25, P2 and P3: commands that are wrong in one way each. The issuer is the connection's seat;
// there is no field for another.
func TestWrongCommands(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, nil)
		<-b.Ready()
		r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		kind, payload, err := s.game.NewPayloads().Encode(&minimal.Go{X: 3, Y: 4})
		if err != nil {
			t.Fatal(err)
		}
		_, other, err := s.game.NewPayloads().Encode(&minimal.Go{X: 30, Y: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []protocol.Message{
			{Sequence: 1, Command: kind, Bytes: payload},                                 // good
			{Sequence: 1, Command: kind, Bytes: other},                                   // the same again, with other content
			{Sequence: 2, Command: 999, Bytes: payload},                                  // unknown kind
			{Sequence: 3, Command: kind, Bytes: payload[:3]},                             // cut off
			{Sequence: 4, Command: kind, Bytes: []byte{}},                                // nothing
			{Sequence: 5, Command: kind, Bytes: append(append([]byte{}, payload...), 0)}, // something behind it
			{Sequence: 6, Command: kind, Bytes: make([]byte, 5<<10)},                     // large
			{Sequence: 1 << 31, Command: kind, Bytes: payload},                           // far ahead
			{Sequence: 7, Command: kind, Bytes: []byte{0xff, 0xff, 0xff, 0xff, 0xff}},    // too long by one
			{Sequence: 8, Command: 1, Bytes: []byte{1}},                                  // as System's joins are
		} {
			m.Kind = protocol.KindCommand
			r.say(&m)
		}
		wrong := func() (n int) {
			for _, k := range r.reasons {
				n += k
			}
			return n
		}
		r.read(func() bool { return wrong() == 8 && r.counts[protocol.KindCommandAccepted] == 2 })
		if wrong() != 8 || r.counts[protocol.KindCommandAccepted] != 2 {
			t.Errorf("rejected %v, accepted %d, want 8 and 2 (one of them a repeat)", r.reasons, r.counts[protocol.KindCommandAccepted])
		}
		time.Sleep(time.Second)
		if n := s.stats(t).Commands; n != 3 { // two joins and the good one
			t.Errorf("%d commands are in the log, want 3", n)
		}
		b.Do(func(c *player.Client) {
			w := lockstep.World[minimal.World](c.Simulation())
			if w.Dots[0].To.X != 3*fixed.One || w.Dots[1].To.X != 0 {
				t.Errorf("the dots go to %v and %v", w.Dots[0].To, w.Dots[1].To)
			}
		})
		spectator := s.raw(t, press, protocol.SessionToken{}, 0).live()
		spectator.say(&protocol.Message{Kind: protocol.KindCommand, Sequence: 1, Command: kind, Bytes: payload})
		if !spectator.read(func() bool { return spectator.errors[protocol.ErrorRole] == 1 }) {
			t.Errorf("a spectator's command: errors %v", spectator.errors)
		}
		s.agree(t, b)
	})
}
