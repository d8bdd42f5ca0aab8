//go:build !js

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// The connections of an address are limited. Guests do not displace clients with a token or a session.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	const guests = "guest:g%[1]d:0123456789abcdef%[1]d"
	crowd := func(s *setup) {
		s.host.AnonymousSpectators = true
		s.host.MaxSpectators = 100
		s.settings = func(s *lockstep.Settings) { s.Players = 40 }
		tokens, err := server.ReadTokens(strings.NewReader("player 39 ada - " + ada + "\nspectator - press - " + press))
		if err != nil {
			t.Fatal(err)
		}
		s.options.Authorizer = server.AnyOf(tokens, server.Guests{})
	}
	open := func(rs []*raw) (n int) {
		for _, r := range rs {
			go r.end()
		}
		time.Sleep(5 * time.Second) // less than the timeout of a silent one
		for _, r := range rs {
			if r.over.Load() {
				continue
			}
			n++
		}
		return n
	}
	n := 30
	if testenv.Small(t) {
		n = 12
	}
	for _, x := range []struct {
		name  string
		token func(i int) string // of the first connections
		added string
		in    bool
		open  int // of the first n
	}{
		{"a token, after guests", func(i int) string { return fmt.Sprintf(guests, i) }, ada, true, n - 1},
		{"a session, after guests", func(i int) string { return fmt.Sprintf(guests, i) }, "", true, n - 1},
		{"a token, after spectators without one", func(int) string { return "" }, ada, true, n - 1},
		{"a token, after those of one other", func(int) string { return press }, ada, true, n - 1},
		{"a guest, after guests", func(i int) string { return fmt.Sprintf(guests, i) }, fmt.Sprintf(guests, 99), false, n},
		{"a guest, after those of one token", func(int) string { return press }, fmt.Sprintf(guests, 99), true, n - 1},
		{"the same token, after those of it", func(int) string { return press }, press, false, n},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := setup{options: server.Options{Limits: server.Limits{MaxPerAddress: n}}}
			crowd(&c)
			inBubble(t, c, func(t *testing.T, s *stage) {
				var first []*raw
				var session protocol.SessionToken
				if x.added == "" {
					before := s.from(t, "203.0.113.2").raw(t, ada, protocol.SessionToken{}, 0).welcomed()
					session = before.welcome.Session
					before.ws.CloseNow()
				}
				for i := range n {
					first = append(first, s.from(t, "203.0.113.1").raw(t, x.token(i), protocol.SessionToken{}, 0).welcomed())
				}
				began := time.Now()
				r := s.from(t, "203.0.113.1").raw(t, x.added, session, 0)
				if x.in {
					r.welcomed()
				}
				if wait := time.Since(began); wait > time.Second {
					t.Errorf("welcomed after %v", wait)
				}
				if in, left := open([]*raw{r}) == 1, open(first); in != x.in || left != x.open {
					t.Errorf("the new connection is admitted: %v, and %d of the first ones; want %v and %d", in, left, x.in, x.open)
				}
			})
		})
	}
}
