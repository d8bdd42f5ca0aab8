//go:build !js

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxHandshake is how many bytes the headers of a server's answer to the handshake may have.
	maxHandshake = 64 << 10

	// maxControlFrames is how many pings and pongs a server may send in a second. No other limit counts them, and each
	// ping needs an answer.
	maxControlFrames = 20

	// controlFramesAtOnce is the burst of maxControlFrames.
	controlFramesAtOnce = 60
)

var (
	errTransport     = errors.New("want an http.Transport to put Wrap into")
	errRedirected    = errors.New("the server sends us to another address, which would get the token")
	errControlFrames = errors.New("the server sends too many control frames")
)

// A socket is one WebSocket.
type socket struct {
	ws     *websocket.Conn
	conn   atomic.Pointer[net.Conn] // below it, if we have made it
	ctx    context.Context          // of reading
	cancel context.CancelCauseFunc
	extra  *rate.Limiter // control frames
}

// dial opens a WebSocket, and offers further subprotocols.
func dial(ctx context.Context, address string, shown []string, o *Options) (*socket, error) {
	s := &socket{extra: rate.NewLimiter(maxControlFrames, controlFramesAtOnce)}
	hc, done, err := o.httpClient(func(c net.Conn) { s.conn.Store(&c) })
	if err != nil {
		return nil, err
	}
	defer done()
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	var answer *http.Response
	s.ws, answer, err = websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: hc, Subprotocols: append([]string{Subprotocol}, shown...), CompressionMode: websocket.CompressionDisabled,
		OnPingReceived: func(context.Context, []byte) bool { return s.allowed() },
		OnPongReceived: func(context.Context, []byte) { s.allowed() },
	})
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return nil, e.Err // it names an address, which may be long and the server's
	}
	if err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
		b, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal)) // the library has it in memory
		return nil, refusal(answer.StatusCode, http.StatusSwitchingProtocols, b)
	}
	if err != nil {
		return nil, err
	}
	s.ws.SetReadLimit(protocol.MaxServerMessage)
	return s, nil
}

// allowed counts a control frame, and reports whether it is one too many, which ends the connection.
func (s *socket) allowed() bool {
	if s.extra.Allow() {
		return true
	}
	s.cancel(errControlFrames)
	return false
}

// httpClient returns the client to dial with, and a function to call afterwards. The client follows no redirect, like a
// browser, and gives its connection to made.
func (o *Options) httpClient(made func(net.Conn)) (hc *http.Client, done func(), err error) {
	own := http.Client{}
	if o.HTTP != nil {
		own = *o.HTTP
	}
	own.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if len(via) < maxRedirects && o.isServer(to.URL) {
			return nil
		}
		return fmt.Errorf("%w: %.100s", errRedirected, to.URL.Host)
	}
	from := own.Transport
	if from == nil {
		from = http.DefaultTransport
	}
	t, ok := from.(*http.Transport)
	switch {
	case !ok && o.Wrap == nil:
		return &own, func() {}, nil
	case !ok:
		return nil, nil, errTransport
	}
	t = t.Clone()
	if t.MaxResponseHeaderBytes == 0 {
		t.MaxResponseHeaderBytes = maxHandshake
	}
	t.DialContext = o.dialer(t.DialContext, made)
	if t.DialTLSContext != nil {
		t.DialTLSContext = o.dialer(t.DialTLSContext, made)
	}
	own.Transport = t
	return &own, t.CloseIdleConnections, nil // a refused handshake leaves one
}

// maxRedirects is how many redirects between the servers of a cluster are followed.
const maxRedirects = 3

// isServer reports whether a URL is of one of Servers.
func (o *Options) isServer(to *url.URL) bool {
	return slices.ContainsFunc(o.Servers, func(own string) bool {
		u, err := url.Parse(own)
		return err == nil && u.Host == to.Host && isSecure(u.Scheme) == isSecure(to.Scheme)
	})
}

// isSecure reports whether a scheme has TLS.
func isSecure(scheme string) bool { return scheme == "https" || scheme == "wss" }

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dialer returns open with Wrap around its connections, and gives them to made.
func (o *Options) dialer(open dialer, made func(net.Conn)) dialer {
	if open == nil {
		open = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if o.Wrap != nil {
			c = o.Wrap(c)
		}
		made(c)
		return c, nil
	}
}

// read waits for the next message. It returns all messages that arrived before it returns the connection's error.
func (s *socket) read(b *buffer.Buffer) error {
	_, r, err := s.ws.Reader(s.ctx)
	if err == nil {
		err = b.Fill(r)
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

func (s *socket) write(b []byte) error {
	return s.ws.Write(context.Background(), websocket.MessageBinary, b)
}

// close closes the socket, and waits until the other end has read all that was written.
func (s *socket) close() {
	s.ws.Close(websocket.StatusNormalClosure, "")
	s.cancel(nil)
}

// abort closes the socket at once, and the connection below it: a WebSocket that closes reads the rest of a frame,
// which may never end.
func (s *socket) abort() {
	if c := s.conn.Load(); c != nil {
		(*c).Close()
	}
	s.ws.CloseNow()
	s.cancel(nil)
}

// fetcher returns a function that fetches with the options' HTTP client, and one to call afterwards.
func (o *Options) fetcher() (get fetch, done func(), err error) {
	hc, done, err := o.httpClient(func(net.Conn) {})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, address string, limit int64) ([]byte, error) {
		return getBody(ctx, hc, address, o.Token, limit)
	}, done, nil
}

// getBody is the fetch of an HTTP client, which shows a token.
func getBody(ctx context.Context, hc *http.Client, address, token string, limit int64) ([]byte, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := hc.Do(ask)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // it names an address, which may be long and the server's
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		return nil, refusal(answer.StatusCode, http.StatusOK, b)
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLong
	}
	return b, err
}
