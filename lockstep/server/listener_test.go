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
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Row 6 of the review: connections that are held open without a request keep nobody
// out. The server closes the oldest of the address that has most, and keeps a bounded
// number; WebSockets of players are not among them.
func TestIdleSockets(t *testing.T) {
	inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
		player := s.from(t, "203.0.113.1").raw(t, ada, lockstep.SessionToken{}, 0).live()
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
		if open[false] != 64 || open[true] != 400 {
			t.Errorf("got %d open connections of one address and %d of the others, want 64 and 400", open[false], open[true])
		}
		for i := range 60 { // more than all may have, each from an address of its own
			began := time.Now()
			there := s.from(t, fmt.Sprintf("203.0.113.%d", i+2))
			if status, _ := there.ask(t, "GET", "/matches", "", ""); status != 200 {
				t.Errorf("newcomer %d: got %d", i, status)
			}
			player.ws.CloseNow()
			player = there.raw(t, "", player.welcome.Session, player.position).welcomed()
			if wait := time.Since(began); wait > time.Second {
				t.Errorf("newcomer %d waited for %v", i, wait)
			}
		}
		player.read(func() bool { return player.counts[lockstep.MessagePing] > 0 })
	})
}

// What one address is sent in a second is bounded, whatever it asks for on however
// many connections; others, and WebSockets, do not wait for it.
func TestBytesToOneAddress(t *testing.T) {
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
		s.from(t, "198.51.100.1").raw(t, ada, lockstep.SessionToken{}, 0).live()
		if wait := time.Since(at); wait > time.Second {
			t.Errorf("a newcomer and a player waited for %v", wait)
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
