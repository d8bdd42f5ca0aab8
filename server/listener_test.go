//go:build !js

package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// Attack 6 of the review: connections without a request lock out no client. The server closes the oldest of the address
// that has most, and keeps a bounded number. Players' WebSockets are not among them.
func TestIdleSockets(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
		player := s.from(t, "203.0.113.1").raw(t, ada, protocol.SessionToken{}, 0).live()
		var idle []net.Conn
		for i := range 800 { // 400 of one address, and 8 of each of 50
			address := "198.51.100.1:1"
			if i%2 == 0 {
				address = fmt.Sprintf("192.0.2.%d:1", 1+i/16)
			}
			c, err := s.pipes.dialFrom(address)
			if err != nil {
				t.Fatal(err)
			}
			idle = append(idle, c)
			t.Cleanup(func() { c.Close() })
		}
		time.Sleep(time.Second)
		open := map[bool]int{}
		for i, c := range idle {
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); err != io.EOF && err != io.ErrClosedPipe {
				open[i%2 == 0]++
			}
		}
		if open[false] != 128 || open[true] != 400 { // 64, and 64 on trial
			t.Errorf("got %d open connections of one address and %d of the others, want 128 and 400", open[false], open[true])
		}
		for i := range 60 { // more than all may have, each from an address of its own
			began := time.Now()
			there := s.from(t, fmt.Sprintf("203.0.113.%d", i+2))
			if status, _ := there.ask(t, "GET", "/matches", "", ""); status != 200 {
				t.Errorf("client %d: got %d", i, status)
			}
			player.ws.CloseNow()
			player = there.raw(t, "", player.welcome.Session, player.position).welcomed()
			if wait := time.Since(began); wait > time.Second {
				t.Errorf("client %d waited for %v", i, wait)
			}
		}
		player.read(func() bool { return player.counts[protocol.KindPing] > 0 })
	})
}

// Each new connection costs the server a handshake. An address beyond its budget is closed at once, and others do
// not notice.
func TestConnectRate(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		heard := func(address string, tries int) (n int) {
			for range tries {
				c, err := s.pipes.dialFrom(address)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: server\r\n\r\n"); err == nil {
					if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && answer.StatusCode == 200 {
						n++
					}
				}
				c.Close()
			}
			return n
		}
		const flood = "198.51.100.1:1"
		if n := heard(flood, 1000); n != 256 {
			t.Errorf("%d of 1,000 connections at once were heard, want 256", n)
		}
		if n := heard("203.0.113.1:1", 10); n != 10 {
			t.Errorf("%d of 10 connections of somebody else were heard", n)
		}
		time.Sleep(2 * time.Second)
		if n := heard(flood, 1000); n != 128 {
			t.Errorf("after 2 s %d were heard, want 128", n)
		}
	})
}

// A refused request closes its connection, so the budget of connections also limits requests.
func TestRefusalsClose(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		for _, x := range []struct {
			request string
			status  int
			closed  bool
		}{
			{"GET /matches HTTP/1.1\r\nHost: server", 200, false},
			{"GET /matches/none HTTP/1.1\r\nHost: server", 404, true},
			{"GET /nothing HTTP/1.1\r\nHost: server", 404, true},
			{"GET /matches HTTP/1.1\r\nHost: other.example", 403, true},
			{"GET /matches/duel/play HTTP/1.1\r\nHost: server", 426, true},
			{"POST /matches HTTP/1.1\r\nHost: server\r\nContent-Length: 0\r\nAuthorization: Bearer wrong", 403, true},
			{"GET /healthz HTTP/1.1\r\nHost: server", 200, true}, // it has no other limit
		} {
			c := s.dialRaw(t)
			fmt.Fprint(c, x.request+"\r\n\r\n")
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != x.status || answer.Close != x.closed {
				t.Errorf("%q: got %d, closed %v; want %d, %v", x.request, answer.StatusCode, answer.Close, x.status, x.closed)
			}
			c.Close()
		}
	})
}

// The bytes sent to an address in a second are limited, for all requests on all its connections. Others, and
// WebSockets, do not wait for it.
func TestBytesToOneAddress(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Replays: true}}, func(t *testing.T, s *stage) {
		const conns, seconds, size = 8, 4, 4 << 20
		if err := os.WriteFile(filepath.Join(s.dir, "large.ssr"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		var total [conns]int
		done := make(chan int)
		began := time.Now()
		for i := range conns {
			c, err := s.pipes.dialFrom("198.51.100.1:1")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer func() { done <- i }()
				defer c.Close()
				r := bufio.NewReader(c)
				for time.Since(began) < seconds*time.Second && total[i] < 8*size { // without a limit no time passes
					fmt.Fprintf(c, "GET /replays/large.ssr HTTP/1.1\r\nHost: server\r\n\r\n")
					answer, err := http.ReadResponse(r, nil)
					if err != nil {
						return
					}
					n, _ := io.Copy(io.Discard, answer.Body)
					total[i] += int(n)
				}
			}()
		}
		time.Sleep(seconds * time.Second / 2)
		at := time.Now()
		there := s.from(t, "203.0.113.1")
		if status, _ := there.ask(t, "GET", "/matches", "", ""); status != 200 {
			t.Errorf("somebody else: got %d", status)
		}
		s.from(t, "198.51.100.1").raw(t, ada, protocol.SessionToken{}, 0).live()
		if wait := time.Since(at); wait > time.Second {
			t.Errorf("a new client and a player waited for %v", wait)
		}
		sum := 0
		for range conns {
			sum += total[<-done]
		}
		took := time.Since(began)
		if bound := int((took.Seconds() + 1.1) * (8 << 20)); sum > bound || sum < size {
			t.Errorf("one address was sent %d KiB in %v, want at most %d", sum>>10, took, bound>>10)
		}
	})
}

// Attack 6 of the review: a quarter of the file descriptors is left to players and files, however many spectators,
// silent WebSockets and idle connections come from however many addresses.
func TestReserveForPlayers(t *testing.T) {
	t.Parallel()
	const descriptors, crowd = 80, 60
	list, tokens := players(16)
	o := setup{
		tokens: list + "spectator - press - " + press + "\n", settings: func(s *lockstep.Settings) { s.Players = 16 },
		options: server.Options{Descriptors: descriptors}, host: host.Options{AuthTimeout: 60 * lockstep.Second, MaxSpectators: crowd},
	}
	inBubble(t, o, func(t *testing.T, s *stage) {
		var all []net.Conn
		for i := range crowd {
			from := fmt.Sprintf("198.51.100.%d:1", i+1)
			idle, err := s.pipes.dialFrom(from)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { idle.Close() })
			all = append(all, idle, s.open(t, from), s.enter(t, from, press))
		}
		for _, token := range tokens {
			began := time.Now()
			s.raw(t, token, protocol.SessionToken{}, 0).welcomed()
			if wait := time.Since(began); wait > time.Second {
				t.Errorf("a player waited for %v", wait)
			}
		}
		time.Sleep(time.Second)
		open := 0
		for _, c := range all {
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); err != io.EOF && err != io.ErrClosedPipe {
				open++
			}
		}
		if most := descriptors * 3 / 4; open > most || open < most/2 {
			t.Errorf("%d connections that are no players' are open, want at most %d", open, most)
		}
		if got := s.stats(t); got.Players != len(tokens) || got.Spectators != descriptors/4 {
			t.Errorf("got %d players and %d spectators, want %d and %d", got.Players, got.Spectators, len(tokens), descriptors/4)
		}
	})
}

// Spectators who leave give back their places.
func TestSpectatorsComeAndGo(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Descriptors: 12}}, func(t *testing.T, s *stage) {
		for i := range 40 {
			c := s.enter(t, "198.51.100.1:1", press)
			if i%2 == 0 {
				time.Sleep(time.Second)
			}
			c.Close()
			time.Sleep(time.Second)
		}
		if _, text := get(s.server, "/metrics"); !strings.Contains(text, "{reason=\"crowd\"} 0\n") {
			t.Error("one was refused")
		}
	})
}

// Empty answers cost CPU time too: a kept connection that requests one byte again and again gets a limited number
// in a second.
func TestSmallAnswers(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Replays: true}}, func(t *testing.T, s *stage) {
		if err := os.WriteFile(filepath.Join(s.dir, "small.ssr"), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := s.pipes.dialFrom("198.51.100.1:1")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r := bufio.NewReader(c)
		const seconds, each = 1, 2048
		began := time.Now()
		for range (seconds + 1) * each {
			fmt.Fprintf(c, "GET /replays/small.ssr HTTP/1.1\r\nHost: server\r\nRange: bytes=0-0\r\n\r\n")
			answer, err := http.ReadResponse(r, nil)
			if err != nil || answer.StatusCode != http.StatusPartialContent {
				t.Fatal(answer, err)
			}
			io.Copy(io.Discard, answer.Body)
		}
		if took := time.Since(began); took < seconds*time.Second*9/10 {
			t.Errorf("%d answers took %v, want %d s", (seconds+1)*each, took, seconds)
		}
	})
}
