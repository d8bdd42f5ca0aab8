package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// errFetch: a browser does not say more.
var errFetch = errors.New("incomplete response")

// fetcher returns a function that fetches with the browser, which has a cache of its own, and one to call afterwards.
func (o *Options) fetcher() (get fetch, done func(), err error) {
	return func(ctx context.Context, address string, limit int64) ([]byte, error) {
		return getBody(ctx, address, o.Token, limit)
	}, func() {}, nil
}

// getBody is the fetch of a browser, which shows a token to the server of its page. Others would have to allow the header first.
func getBody(ctx context.Context, address, token string, limit int64) (body []byte, err error) {
	if js.Global().Get("fetch").IsUndefined() {
		return nil, errors.New("there is no fetch here")
	}
	abort := js.Global().Get("AbortController").New()
	defer context.AfterFunc(ctx, func() { abort.Call("abort") })()
	defer abort.Call("abort") // of an answer that is not read to its end
	how := map[string]any{"signal": abort.Get("signal"), "redirect": "error", "credentials": "omit"}
	if page := js.Global().Get("location"); token != "" && page.Truthy() && strings.HasPrefix(address, page.Get("origin").String()+"/") {
		how["headers"] = map[string]any{"Authorization": "Bearer " + token}
	}
	body, err = readBody(js.Global().Call("fetch", address, how), limit)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return body, err
}

// readBody reads the answer that was promised.
func readBody(promised js.Value, limit int64) (body []byte, err error) {
	answer, ok := await(promised)
	if !ok {
		return nil, errFetch
	}
	if status := answer.Get("status").Int(); status != statusOK {
		text, _ := readAll(answer, maxRefusal)
		return nil, refusal(status, statusOK, text)
	}
	return readAll(answer, limit)
}

// readAll reads the body of an answer.
func readAll(answer js.Value, limit int64) (body []byte, err error) {
	if answer.Get("body").IsNull() {
		return nil, errFetch
	}
	reader := answer.Get("body").Call("getReader")
	for {
		chunk, ok := await(reader.Call("read"))
		switch {
		case !ok:
			return nil, errFetch
		case chunk.Get("done").Bool():
			return body, nil
		}
		part := chunk.Get("value")
		at, n := len(body), part.Get("length").Int()
		if int64(at)+int64(n) > limit {
			return nil, errTooLong
		}
		body = append(body, make([]byte, n)...)
		js.CopyBytesToGo(body[at:], part)
	}
}

// await waits for a promise, and reports whether it was kept.
func await(promise js.Value) (value js.Value, ok bool) {
	done := make(chan struct{})
	settle := func(kept bool) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			value, ok = args[0], kept
			close(done)
			return nil
		})
	}
	kept, broken := settle(true), settle(false)
	defer kept.Release()
	defer broken.Release()
	promise.Call("then", kept, broken)
	<-done
	return value, ok
}

// errNoPath: a browser does not say more.
var errNoPath = errors.New("there is no path of datagrams")

// ignored takes the failure of a promise whose outcome does not matter.
var ignored = js.FuncOf(func(js.Value, []js.Value) any { return nil })

// dialPath opens a WebTransport of the browser, and tells the server whose it is. Browsers have one only on pages that came over HTTPS
// or from this machine.
func dialPath(ctx context.Context, info pathInfo, token protocol.SessionToken, _ *Options) (*path, error) {
	class := js.Global().Get("WebTransport")
	if class.IsUndefined() {
		return nil, errNoPath
	}
	hash := map[string]any{"algorithm": "sha-256", "value": bytesToJS(info.hash)}
	wt, err := construct(class, info.url, map[string]any{"serverCertificateHashes": []any{hash}, "congestionControl": "low-latency"})
	if err != nil {
		return nil, err
	}
	wt.Get("closed").Call("catch", ignored)
	end := sync.OnceFunc(func() { wt.Call("close") })
	defer context.AfterFunc(ctx, end)()
	opened := func() bool {
		if _, ok := await(wt.Get("ready")); !ok {
			return false
		}
		stream, ok := await(wt.Call("createUnidirectionalStream"))
		if !ok {
			return false
		}
		w := stream.Call("getWriter")
		w.Call("write", bytesToJS(token[:])).Call("catch", ignored)
		_, ok = await(w.Call("close"))
		return ok
	}
	if !opened() || ctx.Err() != nil {
		wt.Get("ready").Call("catch", ignored)
		end()
		return nil, errNoPath
	}
	return newPath(wt, end), nil
}

// newPath returns the path of a WebTransport, with the goroutine that reads from it.
func newPath(wt js.Value, end func()) *path {
	p := &path{arrived: make(chan []byte, maxUnreadDatagrams), gone: make(chan struct{}), close: end}
	w := wt.Get("datagrams").Get("writable").Call("getWriter")
	w.Get("closed").Call("catch", ignored)
	p.send = func(b []byte) {
		if room := w.Get("desiredSize"); room.Type() == js.TypeNumber && room.Float() > -maxUnsentDatagrams {
			w.Call("write", bytesToJS(b)).Call("catch", ignored)
		}
	}
	r := wt.Get("datagrams").Get("readable").Call("getReader")
	go func() {
		defer close(p.gone)
		for {
			chunk, ok := await(r.Call("read"))
			if !ok || chunk.Get("done").Bool() {
				return
			}
			value := chunk.Get("value")
			b := make([]byte, value.Get("length").Int())
			js.CopyBytesToGo(b, value)
			select {
			case p.arrived <- b:
			default:
			}
		}
	}()
	return p
}

func bytesToJS(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
