//go:build !js

package server_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A deaf socket reads the server's first packet, which validates the address, and no other one.
type deaf struct {
	net.PacketConn
	heard atomic.Bool
}

func (d *deaf) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := d.PacketConn.ReadFrom(b)
		if err != nil || !d.heard.Swap(true) {
			return n, from, err
		}
	}
}

// begin begins a QUIC handshake that is never finished.
func (a *pathAttacker) begin() {
	a.t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		a.t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(a.t.Context())
	tr, ended := &quic.Transport{Conn: &deaf{PacketConn: udp}}, make(chan struct{})
	go func() {
		defer close(ended)
		tr.Dial(ctx, to, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, &quic.Config{EnableDatagrams: true})
	}()
	a.t.Cleanup(func() {
		cancel()
		<-ended
		tr.Close()
		udp.Close()
	})
}

// QUIC handshakes that are not finished are bounded, and use nothing of the budget of other connections of their address.
func TestHalfOpenHandshakes(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{MaxUnauthenticated: 100}}})
	a := newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	for range server.MaxHalfOpenEach + 10 {
		a.dial() // and is finished
	}
	eventually(t, "none is half-open", func() bool { return s.server.HalfOpen() == 0 })
	for range server.MaxHalfOpenEach + 10 {
		a.begin()
	}
	eventually(t, "some are refused", func() bool {
		_, text := get(s.server, "/metrics")
		return !strings.Contains(text, "samestep_turned_away_total{reason=\"crowd\"} 0\n")
	})
	if n := s.server.HalfOpen(); n > server.MaxHalfOpenEach {
		t.Errorf("got %d handshakes that are not finished, want at most %d", n, server.MaxHalfOpenEach)
	}
	s.raw(t, ada, protocol.SessionToken{}, 0).welcomed()
	_, text := s.ask(t, "GET", "/matches/duel/connections", ops, "")
	var all []struct {
		Spent map[string]int `json:"address_spent"`
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 {
		t.Fatal(text, err)
	}
	if got := all[0].Spent; got["connections"] > 5 {
		t.Errorf("got %d %% of the connections of the address spent, which did nothing but handshakes", got["connections"])
	}
}
