//go:build !js

package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// silent opens n WebSockets that send nothing.
func (s *stage) silent(t *testing.T, n int) (open []*raw) {
	t.Helper()
	for range n {
		r, err := s.connect(t)
		if err != nil {
			t.Fatalf("silent connection %d: %v", len(open), err)
		}
		open = append(open, r)
	}
	return open
}

// Attack 2 of the review: silent WebSockets, from one address or many, lock out no client. New and returning players
// are welcomed within a second, even from the address of the silent ones.
func TestSilentOpeners(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name            string
		addresses, each int
		connecting      int // that may be left
	}{
		{"64 of one address", 1, 64, 8},
		{"8 of each of 24 addresses", 24, 8, 64},
		{"64 of each of 12 addresses", 12, 64, 64},
	} {
		if testenv.Small(t) && x.addresses*x.each > 500 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
				var crowd []*stage
				for i := range x.addresses {
					crowd = append(crowd, s.from(t, fmt.Sprintf("198.51.100.%d", i+1)))
				}
				player := s.from(t, "203.0.113.1").raw(t, ada, protocol.SessionToken{}, 0).live()
				for _, there := range crowd {
					there.silent(t, x.each)
				}
				time.Sleep(time.Second)
				// A match may evict one connection while it does not know yet that the server has dropped another.
				if got := s.stats(t).Peers[host.Connecting]; got > x.connecting || got < x.connecting*3/4 {
					t.Errorf("%d are connecting, want %d or a few less", got, x.connecting)
				}
				late := 0
				for i := range 30 {
					crowd[i%len(crowd)].silent(t, 1)
					from := s.from(t, fmt.Sprintf("203.0.113.%d", i+1))
					if i%3 == 0 {
						from = crowd[0]
					}
					began := time.Now()
					if i%2 == 0 {
						from.raw(t, press, protocol.SessionToken{}, 0).welcomed()
					}
					player.ws.CloseNow()
					player = from.raw(t, "", player.welcome.Session, player.position).welcomed()
					if time.Since(began) > time.Second {
						late++
					}
				}
				if late > 0 {
					t.Errorf("%d of 30 were welcomed after more than a second", late)
				}
			})
		})
	}
}

// The limit of an address is an option. The server's limit is for all matches together.
func TestUnauthenticatedLimits(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MaxUnauthenticated: 3}, NewMatch: newMatch}, host: host.Options{MaxConnecting: 600}}, func(t *testing.T, s *stage) {
		var open []*raw
		for range 5 {
			open = append(open, s.silent(t, 1)...)
			time.Sleep(time.Millisecond) // until the server has counted it
		}
		for i, r := range open {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _, err := r.ws.Read(ctx)
			closed := ctx.Err() == nil
			cancel()
			if closed != (i < 2) {
				t.Errorf("connection %d: closed: %v, %v", i, closed, err)
			}
		}
		for i := range 300 {
			s.from(t, fmt.Sprintf("10.%d.%d.1", i/100, i%100)).silent(t, 2)
		}
		time.Sleep(time.Second)
		if got := s.stats(t).Peers[host.Connecting]; got != 512 {
			t.Errorf("%d are connecting, want 512", got)
		}
	})
}

// Refused clients that keep their sockets open lock out no client.
func TestRefusedLinger(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{MaxConnecting: 4, MaxSpectators: 1}}, func(t *testing.T, s *stage) {
		for i := range 40 {
			there := s.from(t, fmt.Sprintf("198.51.100.%d", i+1))
			r, err := there.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			token := "wrong-wrong-wrong-wrong"
			if i%2 == 0 {
				token = press
			}
			a := protocol.NewAuth(s.game)
			a.Token = token
			var w protocol.Writer
			r.ws.Write(t.Context(), websocket.MessageBinary, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))
			if i%2 == 0 {
				r.say(&protocol.Message{Kind: protocol.KindLeave}) // and does not read that it has left
			}
		}
		began := time.Now()
		s.raw(t, ada, protocol.SessionToken{}, 0).welcomed()
		if wait := time.Since(began); wait > time.Second {
			t.Errorf("welcomed after %v", wait)
		}
	})
}
