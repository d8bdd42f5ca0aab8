//go:build !js

package client_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A hostile is a server that treats each connection as a test likes, in virtual time. The client's token is "secret".
type hostile struct {
	t     *testing.T
	serve func(*wire)
	dials int
	lost  []error
	gone  context.CancelFunc
}

// A wire is the server's end of a connection.
type wire struct {
	net.Conn
	in *bufio.Reader
}

// upgrade answers the handshake.
func (w *wire) upgrade() {
	r, err := http.ReadRequest(w.in)
	if err != nil {
		return
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: %s\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		client.Subprotocol, base64.StdEncoding.EncodeToString(sum[:]))
}

// frame sends one frame of a WebSocket, whose first byte is head.
func (w *wire) frame(head byte, payload []byte) error {
	b := []byte{head, 127, 0, 0, 0, 0, byte(len(payload) >> 24), byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload))}
	switch {
	case len(payload) < 126:
		b = []byte{head, byte(len(payload))}
	case len(payload) < 1<<16:
		b = []byte{head, 126, byte(len(payload) >> 8), byte(len(payload))}
	}
	_, err := w.Write(append(b, payload...))
	return err
}

// message sends a server's message.
func (w *wire) message(m *protocol.Message) error {
	var mw protocol.Writer
	return w.frame(0x82, mw.Append(nil, m))
}

// play sends everything that a client needs to be live.
func (w *wire) play(t *testing.T) {
	g := lockstep.MustGame(minimal.Rules())
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &minimal.Config{Size: 32, Coins: 20})
	if err != nil {
		t.Error(err)
		return
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Error(err)
		return
	}
	var enc record.Encoder
	b := append([]byte(nil), enc.Header(h)...)
	b = append(b, enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
	w.message(&protocol.Message{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
		Role: protocol.Seated, Session: protocol.SessionToken{1}, Position: 1, AckEvery: 1, InputDelay: 2, SpeedPercent: 100,
	}})
	w.message(&protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: uint32(len(b)), Bytes: b})
}

// options connect a client to the server. The client reconnects up to tries times.
func (h *hostile) options(tries int) client.Options {
	return client.Options{
		Options: player.Options{Token: "secret", Reconnect: player.ReconnectPolicy{Attempts: tries, Total: 3600 * lockstep.Second}},
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			h.dials++
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				h.serve(&wire{theirs, bufio.NewReader(theirs)})
			}()
			return ours, nil
		}}},
		Handle: func(_ *player.Client, e any) {
			switch e := e.(type) {
			case player.ConnectionLost:
				h.lost = append(h.lost, e.Err)
			case player.Synced:
				if h.gone != nil {
					time.AfterFunc(time.Minute, h.gone)
				}
			}
		},
	}
}

// For every misbehaviour of a server, the client gives up in bounded time, with bounded memory and a short text, and
// leaves no goroutine behind.
func TestHostileServers(t *testing.T) {
	nothing := make([]byte, 4<<10)
	flood := func(w *wire, b []byte) { // a virtual millisecond each, or the time would stand still
		for {
			if _, err := w.Write(b); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	for _, row := range []struct {
		name  string
		serve func(t *testing.T, w *wire)
		want  string // in the text of the loss
	}{
		{"no handshake", func(_ *testing.T, w *wire) { io.Copy(io.Discard, w) }, "deadline"},
		{"half a handshake", func(_ *testing.T, w *wire) {
			http.ReadRequest(w.in)
			fmt.Fprint(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upg")
			io.Copy(io.Discard, w)
		}, "deadline"},
		{"a handshake without end", func(_ *testing.T, w *wire) {
			http.ReadRequest(w.in)
			fmt.Fprint(w, "HTTP/1.1 101 ")
			flood(w, bytes.Repeat([]byte("x"), 16<<10))
		}, ""},
		{"interim answers without end", func(_ *testing.T, w *wire) {
			http.ReadRequest(w.in)
			flood(w, []byte("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"))
		}, ""},
		{"an endless refusal", func(_ *testing.T, w *wire) {
			http.ReadRequest(w.in)
			fmt.Fprint(w, "HTTP/1.1 403 "+strings.Repeat("no", 10_000)+"\r\n\r\n")
			flood(w, nothing)
		}, "403"},
		{"a protocol with a long name", func(_ *testing.T, w *wire) {
			r, err := http.ReadRequest(w.in)
			if err != nil {
				return
			}
			sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
			fmt.Fprintf(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: %s\r\nSec-WebSocket-Accept: %s\r\n\r\n",
				strings.Repeat("x", 50_000), base64.StdEncoding.EncodeToString(sum[:]))
			io.Copy(io.Discard, w)
		}, "Sec-WebSocket-Protocol"},
		{"silence", func(_ *testing.T, w *wire) { w.upgrade(); io.Copy(io.Discard, w) }, "silent"},
		{"silence, and nothing is read", func(_ *testing.T, w *wire) { w.upgrade(); time.Sleep(time.Hour) }, "silent"},
		{"half a message", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.frame(0x02, []byte{0x92})
			time.Sleep(time.Hour)
		}, "silent"},
		{"a message in fragments without end", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.frame(0x02, nil)
			flood(w, []byte{0x00, 0})
		}, "silent"},
		{"a message larger than all memory", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.Write([]byte{0x82, 127, 0, 0, 0x7f, 0, 0, 0, 0, 0})
			flood(w, nothing)
		}, "read limit"},
		{"a negative length", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.Write([]byte{0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
			io.Copy(io.Discard, w)
		}, ""},
		{"a compressed message", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.frame(0xc2, []byte{1, 2, 3})
			time.Sleep(time.Hour)
		}, "rsv"},
		{"pings without end", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			flood(w, []byte{0x89, 1, 'x'})
		}, "control frames"},
		{"pongs without end", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			flood(w, []byte{0x8a, 1, 'x'})
		}, "control frames"},
		{"empty messages", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			for w.frame(0x82, nil) == nil {
				time.Sleep(10 * time.Millisecond)
			}
		}, "no usable state"},
		{"a farewell that is no reason", func(_ *testing.T, w *wire) {
			w.upgrade()
			go io.Copy(io.Discard, w.in)
			w.frame(0x88, append([]byte{0x0f, 0xa0}, bytes.Repeat([]byte{0x1b}, 123)...))
			time.Sleep(time.Hour)
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{t: t, serve: func(w *wire) { row.serve(t, w) }}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				s := client.Dial(t.Context(), "ws://hostile.invalid/matches/m/play", lockstep.MustGame(minimal.Rules()), h.options(2))
				err := s.Wait()
				runtime.ReadMemStats(&after)
				if !errors.Is(err, player.ErrGaveUp) || h.dials != 3 {
					t.Errorf("got %v after %d dials, want %v after 3", err, h.dials, player.ErrGaveUp)
				}
				if text := err.Error(); !strings.Contains(text, row.want) || len(text) > 2<<10 {
					t.Errorf("got a text of %d bytes, want at most 2 KiB with %q: %.200q", len(text), row.want, text)
				}
				if d := time.Since(began); d > 3*time.Minute {
					t.Errorf("it took %v", d)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
					t.Errorf("%d MiB were allocated", n>>20)
				}
				time.Sleep(2 * time.Hour) // the servers that sleep
			})
		})
	}
}

// A server that reads nothing cannot prevent a client from leaving, however much it has requested.
func TestServerThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{t: t}
		h.serve = func(w *wire) {
			w.upgrade()
			w.play(t)
			for tick := lockstep.Tick(1); ; tick++ {
				if w.frame(0x82, []byte{0x92, byte(record.KindEmpty), 1}) != nil {
					return
				}
				if w.message(&protocol.Message{Kind: protocol.KindStateRequest, Tick: tick}) != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		h.gone = cancel
		s := client.Dial(ctx, "ws://hostile.invalid/matches/m/play", lockstep.MustGame(minimal.Rules()), h.options(2))
		select {
		case <-s.Done():
		case <-time.After(5 * time.Minute):
			t.Fatal("the session goes on, four minutes after it was told to leave")
		}
		if err := s.Wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		time.Sleep(time.Minute)
	})
}

// A redirect is not followed, because it would send the token to another server.
func TestRedirectedHandshake(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(strings.Replace(other.URL, "http", "ws", 1)+"/"+strings.Repeat("x", 10_000), http.StatusTemporaryRedirect))
	defer first.Close()
	for name, hc := range map[string]*http.Client{
		"default": nil,
		"follows": {CheckRedirect: func(*http.Request, []*http.Request) error { return nil }},
	} {
		s := client.Dial(t.Context(), strings.Replace(first.URL, "http", "ws", 1), lockstep.MustGame(minimal.Rules()), client.Options{
			Options: player.Options{Token: "secret", Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond, Attempts: 1}},
			HTTP:    hc,
		})
		if err := s.Wait(); !errors.Is(err, player.ErrGaveUp) || !strings.Contains(err.Error(), "another address") || len(err.Error()) > 2<<10 {
			t.Errorf("%s: got %.300v, want that a redirect is not followed", name, err)
		}
	}
	if asked > 0 {
		t.Errorf("the other server was asked %d times", asked)
	}
	http.DefaultClient.CloseIdleConnections()
}
