//go:build !js

package server_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// frame returns a handmade WebSocket frame. length is the payload length that it claims, in the shortest form
// unless wide says otherwise.
func frame(first byte, masked bool, length uint64, payload []byte) []byte {
	b := []byte{first}
	m := byte(0)
	if masked {
		m = 0x80
	}
	switch {
	case length < 126:
		b = append(b, m|byte(length))
	case length < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, m|126), uint16(length))
	default:
		b = binary.BigEndian.AppendUint64(append(b, m|127), length)
	}
	if masked {
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, payload...)
}

// whole returns a masked frame with a payload.
func whole(first byte, payload []byte) []byte {
	return frame(first, true, uint64(len(payload)), payload)
}

const (
	fin    = 0x80
	binOp  = 2
	textOp = 1
	ping   = 9
	closed = 8
)

// Scenario 61: frames that RFC 6455 forbids, or that exceed a limit. The server closes the connection with the
// right code, and the match continues.
func TestWebSocketAbuse(t *testing.T) {
	t.Parallel()
	auth := func(s *stage) []byte {
		a := protocol.NewAuth(s.game)
		a.Token = press
		var w protocol.Writer
		return w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
	}
	type row struct {
		name   string
		frames []byte
		codes  []uint16 // that are right; 0: closed without one
	}
	rows := []row{
		{"fragmented ping", whole(ping, []byte("x")), []uint16{1002}},
		{"ping of 126 bytes", whole(fin|ping, make([]byte, 126)), []uint16{1002}},
		{"ping that says 2^63-1 bytes", frame(fin|ping, true, 1<<63-1, nil), []uint16{1002}},
		{"without a mask", frame(fin|binOp, false, 3, []byte("abc")), []uint16{1002}},
		{"continuation of nothing", whole(fin, []byte("abc")), []uint16{1002}},
		{"a message within a message", append(whole(binOp, []byte("a")), whole(fin|binOp, []byte("b"))...), []uint16{1002}},
		{"2^63 bytes", frame(fin|binOp, true, 1<<63, nil), []uint16{1002}},
		{"2^64-1 bytes", frame(fin|binOp, true, 1<<64-1, nil), []uint16{1002}},
		{"2^63-1 bytes", append(frame(fin|binOp, true, 1<<63-1, nil), make([]byte, 70<<10)...), []uint16{1009}},
		{"text", whole(fin|textOp, []byte("hello")), []uint16{1003}},
		{"text that is not UTF-8", whole(fin|textOp, []byte{0xff, 0xfe}), []uint16{1003, 1007}},
		{"too large before auth", whole(fin|binOp, make([]byte, protocol.MaxAuthMessage+1)), []uint16{1009}},
		{"too large in pieces", bytes.Join([][]byte{whole(binOp, make([]byte, 3<<10)), whole(0, make([]byte, 3<<10))}, nil), []uint16{1009}},
		{"close with one byte", whole(fin|closed, []byte{3}), []uint16{1002}},
		{"close with code 1005", whole(fin|closed, []byte{3, 0xed}), []uint16{1002}},
		{"close with code 0", whole(fin|closed, []byte{0, 0}), []uint16{1002}},
		{"not MessagePack", whole(fin|binOp, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}), []uint16{1000}},
		{"nothing in a message", whole(fin|binOp, nil), []uint16{1000}},
		{"a polite close", whole(fin|closed, []byte{3, 0xe8}), []uint16{1000}},
	}
	for op := range byte(16) {
		if (op > 2 && op < 8) || op > 10 {
			rows = append(rows, row{fmt.Sprintf("opcode %d", op), whole(fin|op, []byte("x")), []uint16{1002}})
		}
		for _, bits := range []byte{0x40, 0x20, 0x10, 0x70} {
			rows = append(rows, row{fmt.Sprintf("reserved bits %#x, opcode %d", bits, op), whole(fin|bits|op, []byte("x")), []uint16{1002}})
		}
	}
	for welcomed := range 2 {
		inBubble(t, setup{host: returning}, func(t *testing.T, s *stage) {
			b := s.join(t, bob, wander)
			<-b.Ready()
			for _, x := range rows {
				if welcomed == 1 && strings.HasPrefix(x.name, "too large") {
					x.frames, x.codes = whole(fin|binOp, make([]byte, protocol.MaxClientMessage+1)), []uint16{1009}
				}
				c, r := s.upgrade(t)
				c.SetDeadline(time.Now().Add(30 * time.Second))
				if welcomed == 1 {
					c.Write(whole(fin|binOp, auth(s)))
					if op, p := readFrame(r); op != binOp || len(p) < 10 {
						t.Fatalf("%s: not welcomed: opcode %d, %x", x.name, op, p)
					}
				}
				go c.Write(x.frames) // the server may not read it
				code, found := uint16(0), false
				for op, p := readFrame(r); op != 0xff; op, p = readFrame(r) {
					if op == closed && len(p) >= 2 {
						code = binary.BigEndian.Uint16(p)
						go c.Write(whole(fin|closed, p[:2]))
					}
				}
				for _, want := range x.codes {
					found = found || code == want
				}
				if !found {
					t.Errorf("%s (welcomed: %d): closed with %d, want %d", x.name, welcomed, code, x.codes)
				}
				c.Close()
				time.Sleep(300 * time.Millisecond)
			}
			if len(rows) < 80 {
				t.Errorf("only %d cases", len(rows))
			}
			if st := s.stats(t); st.Peers[host.Live] != 1 || st.Peers != [5]int{host.Live: 1} {
				t.Errorf("peers are left: %v", st.Peers)
			}
			s.agree(t, b)
		})
	}
}

// upgradeRequest is the WebSocket handshake for the stage's match.
func upgradeRequest(host string) []byte {
	return fmt.Appendf(nil, "GET /matches/duel/play HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", host, server.Subprotocol)
}

// upgrade makes a WebSocket by hand, so that its frames can be, too.
func (s *stage) upgrade(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := s.dialRaw(t)
	go c.Write(upgradeRequest(s.host))
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("the upgrade: %v, %v", resp, err)
	}
	return c, r
}

func (s *stage) dialRaw(t *testing.T) net.Conn {
	t.Helper()
	var c net.Conn
	var err error
	if s.pipes != nil {
		c, err = s.pipes.dial()
	} else {
		c, err = net.Dial("tcp", s.host)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// readFrame reads one frame of the server; opcode 0xff is the end.
func readFrame(r *bufio.Reader) (op byte, payload []byte) {
	var h [2]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0xff, nil
	}
	length := uint64(h[1] & 0x7f)
	switch length {
	case 126:
		var b [2]byte
		io.ReadFull(r, b[:])
		length = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		io.ReadFull(r, b[:])
		length = binary.BigEndian.Uint64(b[:])
	}
	payload = make([]byte, min(length, 1<<20))
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0xff, nil
	}
	return h[0] & 0xf, payload
}

// Scenario 62 and P11: the server refuses a page of another site, and a client of another protocol.
func TestOriginAndSubprotocol(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Origins: []string{"game.example"}}}, func(t *testing.T, s *stage) {
		for _, x := range []struct {
			origin, protocol string
			in               bool
		}{
			{"", server.Subprotocol, true},
			{"http://server.localhost", server.Subprotocol, true},
			{"https://game.example", server.Subprotocol, true},
			{"https://evil.example", server.Subprotocol, false},
			{"https://game.example.evil.example", server.Subprotocol, false},
			{"https://evil.example/game.example", server.Subprotocol, false},
			{"null", server.Subprotocol, false},
			{"", "", false},
			{"", "samestep.v2", false},
			{"", "SAMESTEP", false},
		} {
			o := &websocket.DialOptions{HTTPClient: s.client, HTTPHeader: http.Header{}}
			if x.origin != "" {
				o.HTTPHeader.Set("Origin", x.origin)
			}
			if x.protocol != "" {
				o.Subprotocols = []string{x.protocol}
			}
			ws, _, err := websocket.Dial(t.Context(), s.url(), o)
			if err == nil {
				_, _, err = ws.Read(t.Context()) // the server waits for auth
				code := websocket.CloseStatus(err)
				if in := code == websocket.StatusNormalClosure || err == nil; in != x.in {
					t.Errorf("origin %q, protocol %q: %v", x.origin, x.protocol, err)
				}
				ws.CloseNow()
			} else if x.in {
				t.Errorf("origin %q, protocol %q: %v", x.origin, x.protocol, err)
			}
		}
		for _, words := range [][]string{
			{"reason=origin", "origin=https://evil.example ", `fix="the setting origin: evil.example"`},
			{"reason=origin", "origin=null ", `fix="serve the page by HTTP`},
		} {
			if got := s.lines(append(words, "turned away", "address=")...); len(got) != 1 {
				t.Errorf("the log has %q with %q, want one line", got, words)
			}
		}
	})
	for _, pattern := range []string{"http://localhost:5173/", "localhost/", "[", "https://game.example/play"} {
		if _, err := server.New(server.Options{Authorizer: &server.Tokens{}, Origins: []string{pattern}}); err == nil {
			t.Errorf("origin %q: accepted, and it would match no page", pattern)
		}
	}
	for _, share := range []int{-1, 101} {
		if _, err := server.New(server.Options{Authorizer: &server.Tokens{}, Heavy: share}); err == nil {
			t.Errorf("a heavy mode of %d percent is accepted", share)
		}
	}
}

// Scenario 56: the server closes a client that stops sending, wherever it stops: in the request, before auth, in a
// message.
func TestSlowLoris(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		const each = 20
		began := time.Now()
		var conns []net.Conn
		for range each {
			c := s.dialRaw(t)
			c.Write([]byte("GET /matches/duel/play HTTP/1.1\r\nHost: x\r\nX-Slow: "))
			conns = append(conns, c)

			c, _ = s.upgrade(t)
			conns = append(conns, c) // sends nothing more

			c, _ = s.upgrade(t)
			c.Write(frame(fin|binOp, true, 100, []byte("half")))
			conns = append(conns, c)
		}
		for i, c := range conns {
			if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("connection %d: %v", i, err)
			}
			if d := time.Since(began); d > 25*time.Second {
				t.Errorf("connection %d was open for %v", i, d)
			}
		}
		time.Sleep(time.Second)
		if st := s.stats(t); st.Peers != [5]int{} {
			t.Errorf("peers are left: %v", st.Peers)
		}
	})
}
