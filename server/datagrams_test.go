//go:build !js

package server_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// datagrams serves paths of datagrams behind a link until the test is over.
func (s *stage) datagrams(t *testing.T, l netsim.Link) *netsim.PacketConn {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	c := netsim.WrapPacket(udp, l)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.server.ServeDatagrams(ctx, c, "") }()
	t.Cleanup(func() {
		s.stop() // the clients first
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		udp.Close()
	})
	return c
}

// byDatagrams reports whether datagrams bring a client's records now.
func (g *testClient) byDatagrams() bool { return g.status().Datagrams }

// A match whose players have datagrams, on a bad network: they are lost for some time and come back, and the connection with them. The
// replay is that of any match.
func TestDatagrams(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{settings: func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(50) }})
	udp := s.datagrams(t, netsim.Link{Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 50_000, Burst: 2, Seed: 1})
	ada, bob := s.join(t, ada, wander), s.join(t, bob, wander)
	eventually(t, "both have datagrams", func() bool { return ada.byDatagrams() && bob.byDatagrams() })
	viewer := s.join(t, press, nil)
	plain := s.joinWith(t, client.Options{Options: player.Options{Token: press}, NoDatagrams: true})
	eventually(t, "the spectators are there", func() bool { return viewer.tick() > 20 && plain.tick() > 20 })
	if viewer.byDatagrams() {
		t.Error("a spectator has no session, and yet datagrams")
	}
	udp.Stall(true, true)
	eventually(t, "the stream goes on alone", func() bool { return !ada.byDatagrams() && !bob.byDatagrams() })
	at := ada.tick()
	eventually(t, "the match goes on", func() bool { return ada.tick() > at+50 && bob.tick() > at+50 })
	udp.Stall(false, false)
	eventually(t, "datagrams are back", func() bool { return ada.byDatagrams() && bob.byDatagrams() })
	if err := bob.Cut(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "bob resumes", func() bool { return has[player.StreamResumed](bob) })
	eventually(t, "and has datagrams again", func() bool { return bob.byDatagrams() })
	if has[player.ConnectionLost](ada) || has[player.Desynced](ada) || has[player.Desynced](bob) {
		t.Error("a player was disturbed")
	}
	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	s.verify(t)
}
