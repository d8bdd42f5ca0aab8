//go:build !js

package server_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A translator is between a client and a server, as a home's router is: the server sees its address, which changes.
type translator struct {
	inside *net.UDPConn // where the client sends to
	server net.Addr

	mu      sync.Mutex
	outside *net.UDPConn
	client  *net.UDPAddr
}

func newTranslator(t *testing.T, server net.Addr) *translator {
	t.Helper()
	inside, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	x := &translator{inside: inside, server: server}
	x.change(t)
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := inside.ReadFromUDP(b)
			if err != nil {
				return
			}
			x.mu.Lock()
			x.client = from
			x.outside.WriteTo(b[:n], server)
			x.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		inside.Close()
		x.mu.Lock()
		defer x.mu.Unlock()
		x.outside.Close()
	})
	return x
}

// change takes another address towards the server. What comes to the old one is lost.
func (x *translator) change(t *testing.T) {
	t.Helper()
	outside, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outside != nil {
		x.outside.Close()
	}
	x.outside = outside
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, _, err := outside.ReadFrom(b)
			if err != nil {
				return
			}
			x.mu.Lock()
			x.inside.WriteTo(b[:n], x.client)
			x.mu.Unlock()
		}
	}()
}

// The address of a player changes, as with another network or a router that forgets: datagrams go on, and the match does not notice.
func TestAddressChanges(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{settings: func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(60) }})
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	x := newTranslator(t, udp.LocalAddr())
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.server.ServeDatagrams(ctx, udp, x.inside.LocalAddr().String()) }()
	t.Cleanup(func() {
		s.stop()
		cancel()
		<-served
		udp.Close()
	})
	ada := s.join(t, ada, wander)
	eventually(t, "ada has datagrams", func() bool { return ada.byDatagrams() })
	for range 2 {
		x.change(t)
		at := ada.tick()
		eventually(t, "datagrams go on", func() bool { return ada.tick() > at+60 && ada.byDatagrams() })
	}
	if has[player.ConnectionLost](ada) {
		t.Error("the match noticed")
	}
}
