package client

import (
	"context"
	"errors"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// fakeWebSocket replaces the browser's WebSocket by an EventTarget that records the sent messages and the close.
func fakeWebSocket(t *testing.T) (made func() js.Value) {
	t.Helper()
	before := js.Global().Get("WebSocket")
	js.Global().Get("globalThis").Call("eval", `
		globalThis.WebSocket = class extends EventTarget {
			constructor(url, protocol) {
				if (!url.startsWith("ws")) throw new Error("not an address");
				super();
				this.protocol = protocol;
				this.sent = [];
				this.bufferedAmount = 0;
				this.nothing = new ArrayBuffer(0);
				globalThis.lastSocket = this;
			}
			send(view) { this.sent.push(view.slice()); }
			close(code) { this.code = code === undefined ? 0 : code; }
			tell(name, fields) { this.dispatchEvent(Object.assign(new Event(name), fields)); }
			take(...bytes) { this.tell("message", {data: new Uint8Array(bytes).buffer}); }
			takeMany(n) { this.tell("message", {data: new ArrayBuffer(n)}); }
		}`)
	t.Cleanup(func() { js.Global().Set("WebSocket", before) })
	return func() js.Value { return js.Global().Get("lastSocket") }
}

// opened dials, and opens the browser's socket.
func opened(t *testing.T, made func() js.Value) *socket {
	t.Helper()
	done := make(chan *socket)
	js.Global().Set("lastSocket", js.Undefined())
	go func() {
		s, err := dial(t.Context(), "ws://host/play", nil, nil)
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	for made().IsUndefined() {
		time.Sleep(time.Millisecond)
	}
	made().Call("tell", "open", nil)
	return <-done
}

// A server's last messages are read before the end of its connection.
func TestBrowserLastWords(t *testing.T) {
	made := fakeWebSocket(t)
	s := opened(t, made)
	ws := made()
	if got := ws.Get("protocol").Index(0).String(); got != Subprotocol {
		t.Errorf("protocol: got %q, want %q", got, Subprotocol)
	}
	ws.Call("take", 1, 2)
	ws.Call("take", 3)
	ws.Call("tell", "close", map[string]any{"code": 1000, "reason": "bye"})
	var b buffer.Buffer
	for _, want := range []string{"\x01\x02", "\x03"} {
		if err := s.read(&b); err != nil || string(b.Bytes) != want {
			t.Fatalf("got %q, %v, want %q", b.Bytes, err, want)
		}
	}
	if err := s.read(&b); err == nil || !strings.Contains(err.Error(), "1000: bye") {
		t.Errorf("at the end: got %v", err)
	}
	if err := s.write([]byte{1}); err == nil {
		t.Error("a closed socket takes a message")
	}
}

func TestBrowserWrite(t *testing.T) {
	made := fakeWebSocket(t)
	s := opened(t, made)
	if err := s.write([]byte{7, 8}); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { s.close(); close(closed) }()
	for made().Get("code").IsUndefined() {
		time.Sleep(time.Millisecond)
	}
	made().Call("tell", "close", map[string]any{"code": 1000, "reason": ""})
	<-closed
	if sent := made().Get("sent"); sent.Length() != 1 || sent.Index(0).Index(1).Int() != 8 || made().Get("code").Int() != 1000 {
		t.Errorf("sent %d messages, code %v", sent.Length(), made().Get("code"))
	}
}

// The browser does not buffer answers for a server that requests data and does not read it.
func TestBrowserBuffered(t *testing.T) {
	made := fakeWebSocket(t)
	s := opened(t, made)
	made().Set("bufferedAmount", maxBuffered+1)
	done := make(chan error)
	go func() { done <- s.write([]byte{1}) }()
	select {
	case <-done:
		t.Fatal("a full socket takes a message")
	case <-time.After(3 * bufferedTime):
	}
	made().Set("bufferedAmount", maxBuffered)
	if err := <-done; err != nil || made().Get("sent").Length() != 1 {
		t.Errorf("after it was sent: got %v, %d messages", err, made().Get("sent").Length())
	}
	made().Set("bufferedAmount", maxBuffered+1)
	go func() { done <- s.write([]byte{1}) }()
	s.abort()
	if err := <-done; !errors.Is(err, errAborted) {
		t.Errorf("cut while full: got %v, want %v", err, errAborted)
	}
}

// Exceptions of the browser and forbidden messages of the server are errors.
func TestBrowserRefusals(t *testing.T) {
	made := fakeWebSocket(t)
	var b buffer.Buffer
	if _, err := dial(t.Context(), "http:/nothing", nil, nil); err == nil || !strings.Contains(err.Error(), "not an address") {
		t.Errorf("a bad address: got %v", err)
	}
	s := opened(t, made)
	made().Call("takeMany", protocol.MaxServerMessage+1)
	if err := s.read(&b); err == nil {
		t.Error("a message beyond the limit was read")
	}
	s = opened(t, made)
	made().Call("tell", "message", map[string]any{"data": "text"})
	if err := s.read(&b); !errors.Is(err, errText) {
		t.Errorf("text: got %v, want %v", err, errText)
	}
	s = opened(t, made)
	for range maxQueued/protocol.MaxServerMessage + 1 {
		made().Call("takeMany", protocol.MaxServerMessage)
	}
	for s.read(&b) == nil {
	}
	if err := s.read(&b); !errors.Is(err, errQueued) {
		t.Errorf("a flood: got %v, want %v", err, errQueued)
	}
	s = opened(t, made)
	for range maxQueued/messageCost + 1 {
		s.arrived(made().Get("nothing"))
	}
	for s.read(&b) == nil {
	}
	if err := s.read(&b); !errors.Is(err, errQueued) {
		t.Errorf("a flood of empty messages: got %v, want %v", err, errQueued)
	}
	s = opened(t, made)
	s.abort()
	if err := s.read(&b); !errors.Is(err, errAborted) {
		t.Errorf("cut: got %v, want %v", err, errAborted)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx, "ws://host", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: got %v", err)
	}
}
