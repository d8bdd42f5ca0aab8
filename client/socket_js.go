package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall/js"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxQueued is how many bytes of messages wait in a socket. A browser reads all that arrives and cannot be told to
	// wait.
	maxQueued = 32 << 20

	// messageCost is added to the bytes of each message, because a server may send any number of empty ones.
	messageCost = 1 << 10

	// maxBuffered is how many bytes may wait in the browser to be sent. Otherwise it would keep everything that a
	// server requests and does not read.
	maxBuffered = 1 << 20

	bufferedTime = 20 * time.Millisecond // from one look at them to the next

	abnormal = 1006 // the code of a socket that ended without a close (RFC 6455, section 7.4.1)
)

var (
	// errNoWebSocket: a JavaScript engine without sockets, such as an old Node.
	errNoWebSocket = errors.New("client: there is no WebSocket here")

	// A browser says no more than the code.
	errUnreachable = errors.New("the server cannot be reached")
	errBroken      = errors.New("the connection is broken")

	errAborted = errors.New("the connection was cut here")
	errQueued  = errors.New("the server sends more than is read")
	errText    = errors.New("a message that is not binary")
)

// A socket is one WebSocket of the browser.
type socket struct {
	ws        js.Value
	listeners map[string]js.Func
	opened    chan struct{} // closed when it is open
	signal    chan struct{} // something of the following has changed

	mu     sync.Mutex
	queue  [][]byte // messages that were not read
	queued int      // their bytes
	err    error    // why nothing arrives any more
	over   chan struct{}
}

// dial opens a WebSocket of the browser, which does not say why that failed, and offers further subprotocols.
func dial(ctx context.Context, url string, shown []string, _ *Options) (s *socket, err error) {
	class := js.Global().Get("WebSocket")
	if class.IsUndefined() {
		return nil, errNoWebSocket
	}
	offered := []any{Subprotocol}
	for _, text := range shown {
		offered = append(offered, text)
	}
	s = &socket{opened: make(chan struct{}), signal: make(chan struct{}, 1), over: make(chan struct{})}
	if s.ws, err = construct(class, url, offered); err != nil {
		return nil, err
	}
	s.ws.Set("binaryType", "arraybuffer")
	s.listen()
	select {
	case <-s.opened:
		return s, nil
	case <-s.over:
		return nil, s.err
	case <-ctx.Done():
		s.abort()
		return nil, ctx.Err()
	}
}

// construct makes an object of a class. The browser throws if an argument, such as an address, is invalid.
func construct(class js.Value, args ...any) (made js.Value, err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case js.Error:
			err = thrown
		default:
			panic(thrown)
		}
	}()
	return class.New(args...), nil
}

func (s *socket) listen() {
	on := func(name string, f func(event js.Value)) {
		l := js.FuncOf(func(_ js.Value, args []js.Value) any { f(args[0]); return nil })
		s.listeners[name] = l
		s.ws.Call("addEventListener", name, l)
	}
	s.listeners = make(map[string]js.Func)
	on("open", func(js.Value) { close(s.opened) })
	on("message", func(e js.Value) { s.arrived(e.Get("data")) })
	on("close", func(e js.Value) {
		code := e.Get("code").Int()
		err := fmt.Errorf("closed with code %d", code)
		if code == abnormal {
			if err = errUnreachable; s.isOpen() {
				err = errBroken
			}
		}
		if reason := e.Get("reason").String(); reason != "" {
			err = fmt.Errorf("%w: %s", err, reason)
		}
		s.end(err)
	})
}

func (s *socket) isOpen() bool {
	select {
	case <-s.opened:
		return true
	default:
		return false
	}
}

// arrived queues a message.
func (s *socket) arrived(data js.Value) {
	if data.Type() != js.TypeObject {
		s.fail(errText)
		return
	}
	view := js.Global().Get("Uint8Array").New(data)
	n := view.Length()
	s.mu.Lock()
	s.queued += n + messageCost
	full := s.queued > maxQueued
	if n <= protocol.MaxServerMessage && !full {
		b := make([]byte, n)
		js.CopyBytesToGo(b, view)
		s.queue = append(s.queue, b)
	}
	s.mu.Unlock()
	switch {
	case full:
		s.fail(errQueued)
	case n > protocol.MaxServerMessage:
		s.fail(fmt.Errorf("a message of %d bytes, want at most %d", n, protocol.MaxServerMessage))
	default:
		s.wake()
	}
}

func (s *socket) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// end records why nothing arrives any more.
func (s *socket) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	for name, f := range s.listeners {
		s.ws.Call("removeEventListener", name, f)
		f.Release()
	}
	close(s.over)
	s.wake()
}

// fail closes the socket without waiting for the other end.
func (s *socket) fail(err error) {
	s.ws.Call("close")
	s.end(err)
}

// read waits for the next message. It returns all messages that arrived before it returns the connection's error.
func (s *socket) read(b *buffer.Buffer) error {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			b.Bytes = append(b.Bytes[:0], s.queue[0]...)
			s.queued -= len(s.queue[0]) + messageCost
			s.queue[0] = nil
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return err
		}
		<-s.signal
	}
}

func (s *socket) write(b []byte) error {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for s.ws.Get("bufferedAmount").Float() > maxBuffered {
		select {
		case <-s.over:
			return s.err
		case <-time.After(bufferedTime):
		}
	}
	view := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(view, b)
	s.ws.Call("send", view) // a socket that is closing takes it and drops it
	return nil
}

// close closes the socket, and waits until the other end has read all that was written.
func (s *socket) close() {
	s.ws.Call("close", 1000)
	<-s.over
}

// abort closes the socket at once.
func (s *socket) abort() { s.fail(errAborted) }
