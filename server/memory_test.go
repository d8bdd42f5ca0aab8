//go:build !js

package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A server uses no more memory than its formula, at rest and while requests come from many addresses, spectators do
// not read, and unauthenticated connections fill it. The test compares each part with its own term, so that none
// hides another.
func TestMemoryBound(t *testing.T) {
	testenv.Long(t)
	for _, x := range []struct {
		name              string
		players, watchers int
		copies            int // of 50,000 coins of 16 bytes
		delay             lockstep.Tick
	}{
		{"2 players", 2, 1, 0, 0},
		{"8 players and 32 spectators", 8, 32, 4, 0},
		{"8 late spectators", 2, 8, 4, 20},
	} {
		if testing.Short() && x.watchers != 32 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			list, tokens := players(x.players)
			start := inMemory()
			inBubble(t, setup{
				tokens: list + "spectator - press - " + press + "\n", config: minimal.Config{Size: 250, Coins: 50_000},
				rules: func(r *lockstep.Rules[minimal.World, minimal.Config]) {
					small := r.New
					r.New = func(w *minimal.World, s *lockstep.Settings, c *minimal.Config) error {
						err := small(w, s, c)
						w.Coins = slices.Repeat(w.Coins, x.copies)
						return err
					}
				},
				settings: func(s *lockstep.Settings) { s.Players = uint8(x.players) },
				host:     host.Options{MaxSpectators: x.watchers, SpectatorDelay: x.delay, IdleTimeout: 60 * lockstep.Second, AuthTimeout: 60 * lockstep.Second, Lag: 1200},
			}, func(t *testing.T, s *stage) {
				now := start
				grows := func(what string, most int) {
					t.Helper()
					if time.Sleep(time.Second); what == "the match" || what == "slow readers" {
						time.Sleep(4 * time.Second) // the referee has all the states that it keeps, and readers all that they get
					}
					before := now
					now = inMemory()
					t.Logf("%s: %d KiB, at most %d", what, (now-before)>>10, most>>10)
					if now-before > most {
						t.Errorf("%s: got %d KiB, want at most %d", what, (now-before)>>10, most>>10)
					}
				}
				for i, token := range tokens { // they read
					go io.Copy(io.Discard, s.enter(t, fmt.Sprintf("203.0.113.%d:1", i), token))
				}
				grows("the match", s.server.MemoryBound()-server.FixedMemory-x.watchers*server.PeerMemory)
				const addresses = 10_000
				for i := range addresses {
					r := httptest.NewRequest("GET", "http://localhost/matches", nil)
					if i%2 == 0 {
						r = httptest.NewRequest("DELETE", "http://localhost/matches/duel", nil)
						r.Header.Set("Authorization", "Bearer wrong-wrong-wrong-wrong")
					}
					r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", i>>8, i&0xff)
					s.server.ServeHTTP(httptest.NewRecorder(), r)
				}
				grows("addresses", addresses*server.BudgetMemory)
				for i := range x.watchers { // they do not read
					s.enter(t, fmt.Sprintf("198.51.100.%d:1", i/4), press)
				}
				grows("slow readers", x.watchers*server.PeerMemory)
				if got := s.stats(t); got.Players != x.players || got.Spectators != x.watchers {
					t.Errorf("got %d players and %d spectators", got.Players, got.Spectators)
				}
				for i := range 512 { // of 64 addresses
					s.open(t, fmt.Sprintf("192.0.2.%d:1", i/8))
				}
				grows("silent WebSockets", 512*server.ConnMemory)
				for i := range 512 {
					c, err := s.pipes.dialFrom(fmt.Sprintf("192.0.2.%d:1", i/8))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					go io.WriteString(c, "GET /"+strings.Repeat("x", 15<<10))
				}
				grows("half requests", 512*server.ConnMemory)
				now = start
				grows("all", s.server.MemoryBound())
			})
		})
	}
}

// inMemory returns the bytes of all live objects and stacks.
func inMemory() int {
	runtime.GC()
	runtime.GC() // what sync.Pool has is collected by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// open opens a WebSocket from an address and sends nothing. It uses as little memory as possible on this side.
func (s *stage) open(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := s.pipes.dialFrom(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET /matches/duel/play HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", s.host, server.Subprotocol)
	var head []byte
	for !strings.HasSuffix(string(head), "\r\n\r\n") {
		var b [1]byte
		if _, err := c.Read(b[:]); err != nil {
			t.Fatalf("the upgrade: %q, %v", head, err)
		}
		head = append(head, b[0])
	}
	if !strings.HasPrefix(string(head), "HTTP/1.1 101") {
		t.Fatalf("the upgrade: %q", head)
	}
	return c
}

// enter opens a WebSocket from an address and authenticates.
func (s *stage) enter(t *testing.T, address, token string) net.Conn {
	t.Helper()
	c := s.open(t, address)
	a := protocol.NewAuth(s.game)
	a.Token = token
	var w protocol.Writer
	if _, err := c.Write(whole(fin|binOp, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))); err != nil {
		t.Fatal(err)
	}
	return c
}
