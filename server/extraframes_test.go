//go:build !js

package server_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net/http"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const pong = 10

// A connection that floods extra frames is closed after its burst, and the server answers no more pings than that.
func TestExtraFrames(t *testing.T) {
	t.Parallel()
	const flood = 20000
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		b := s.join(t, bob, wander)
		<-b.Ready()
		b.gap()
		for _, x := range []struct {
			name         string
			first, frame []byte
		}{
			{"pings", nil, whole(fin|ping, nil)},
			{"pongs", nil, whole(fin|pong, nil)},
			{"empty fragments", whole(binOp, []byte("a")), whole(0, nil)},
			{"pings within a message", whole(binOp, []byte("a")), whole(fin|ping, []byte("x"))},
		} {
			c := s.dialRaw(t)
			began, sent := time.Now(), make(chan int)
			go func() { // without waiting for the server's answer
				n, _ := c.Write(append(append(upgradeRequest(s.host), x.first...), bytes.Repeat(x.frame, flood)...))
				sent <- n / len(x.frame)
			}()
			r := bufio.NewReader(c)
			if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 101 {
				t.Fatalf("%s: the upgrade: %v, %v", x.name, resp, err)
			}
			code, pongs := uint16(0), 0
			for op, p := readFrame(r); op != 0xff; op, p = readFrame(r) {
				switch op {
				case pong:
					pongs++
				case closed:
					code = binary.BigEndian.Uint16(p)
				}
			}
			if n := <-sent; code != 1008 || pongs > 60 || n > flood/10 || time.Since(began) > time.Second {
				t.Errorf("%s: closed with %d after %v, %d frames and %d pongs, want 1008 at once, at most %d and 60", x.name, code, time.Since(began), n, pongs, flood/10)
			}
		}
		time.Sleep(3 * time.Second)
		if worst := b.gap(); worst > tick {
			t.Errorf("a player waited %v for a tick", worst)
		}
		s.agree(t, b)
	})
}

// Reconnecting does not reset the extra frames of an address. Other addresses are not affected.
func TestExtraFramesOfAnAddress(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		flood := func(address string) (pongs int) {
			c, err := s.pipes.dialFrom(address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go c.Write(upgradeRequest(s.host))
			r := bufio.NewReader(c)
			if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 101 {
				t.Fatalf("the upgrade: %v, %v", resp, err)
			}
			for range 100 {
				go c.Write(whole(fin|ping, nil))
				if op, _ := readFrame(r); op != pong {
					break
				}
				pongs++
			}
			return pongs
		}
		all := 0
		for range 100 {
			all += flood("198.51.100.1:1")
		}
		if all > 900 {
			t.Errorf("100 connections of one address got %d pongs at once, want at most 900", all)
		}
		if n := flood("198.51.100.2:1"); n < 50 {
			t.Errorf("another address got %d pongs, want at least 50", n)
		}
		time.Sleep(time.Minute)
		if n := flood("198.51.100.1:1"); n < 50 {
			t.Errorf("after a minute the address got %d pongs, want at least 50", n)
		}
	})
}

// The server reads only a bounded number of bytes from a closing connection.
func TestClosingIsNotRead(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		c, r := s.upgrade(t)
		go func() {
			for op, _ := readFrame(r); op != 0xff; op, _ = readFrame(r) {
			}
		}()
		c.Write(whole(fin|binOp, []byte{0xff})) // malformed
		time.Sleep(time.Millisecond)
		began, sent := time.Now(), 0
		for message := whole(fin|binOp, make([]byte, 1000)); sent < 1<<20; {
			n, err := c.Write(message)
			if sent += n; err != nil {
				break
			}
		}
		if sent > 80<<10 || time.Since(began) > 3*time.Second {
			t.Errorf("the server has read %d bytes in %v of a connection that it was closing, want at most 80 KiB", sent, time.Since(began))
		}
	})
}

// Pings that keep a connection alive, and fragmented messages, are no flood.
func TestFewExtraFrames(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		c, r := s.upgrade(t)
		c.SetDeadline(time.Now().Add(30 * time.Second))
		for _, burst := range []int{60, 20, 40} {
			go c.Write(bytes.Repeat(whole(fin|ping, []byte("here")), burst))
			for n := range burst {
				if op, p := readFrame(r); op != pong || string(p) != "here" {
					t.Fatalf("ping %d of %d: got opcode %d with %q, want a pong", n, burst, op, p)
				}
			}
			time.Sleep(time.Duration(burst) * time.Second / 20)
		}
		a := protocol.NewAuth(s.game)
		a.Token = press
		var w protocol.Writer
		m := w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
		go c.Write(bytes.Join([][]byte{whole(binOp, m[:5]), whole(0, m[5:9]), whole(fin, m[9:])}, nil))
		if op, p := readFrame(r); op != binOp || len(p) < 10 {
			t.Errorf("not welcomed: opcode %d, %x", op, p)
		}
	})
}

// Pongs do not accumulate for a client that does not read.
func TestUnreadPongs(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		c, _ := s.upgrade(t)
		began := time.Now()
		n, err := c.Write(bytes.Repeat(whole(fin|ping, make([]byte, 125)), 2000))
		if err == nil || n > 8<<10 || time.Since(began) > 8*time.Second {
			t.Errorf("the server took %d bytes in %v: %v; want at most 8 KiB in 8 s, and an error", n, time.Since(began), err)
		}
	})
}
