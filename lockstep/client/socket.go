//go:build !js

package client

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
)

// What the options name differs in a browser, which brings its own network.
type (
	httpClient = http.Client
	netConn    = net.Conn
)

var errTransport = errors.New("want an http.Transport to put Wrap into")

// A socket is one WebSocket.
type socket struct{ ws *websocket.Conn }

// dial opens a WebSocket.
func dial(ctx context.Context, url string, o *Options) (*socket, error) {
	hc, done, err := o.httpClient()
	if err != nil {
		return nil, err
	}
	defer done()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient: hc, Subprotocols: []string{Subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(lockstep.MaxServerMessage)
	return &socket{ws}, nil
}

// httpClient returns the client to dial with, and what to do afterwards.
func (o *Options) httpClient() (hc *http.Client, done func(), err error) {
	hc = o.HTTP
	if hc == nil {
		hc = http.DefaultClient
	}
	if o.Wrap == nil {
		return hc, func() {}, nil
	}
	from := hc.Transport
	if from == nil {
		from = http.DefaultTransport
	}
	t, ok := from.(*http.Transport)
	if !ok {
		return nil, nil, errTransport
	}
	t = t.Clone()
	open := t.DialContext
	if open == nil {
		open = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return o.Wrap(c), nil
	}
	wrapped := *hc
	wrapped.Transport = t
	return &wrapped, t.CloseIdleConnections, nil // a refused handshake leaves one
}

// read waits for the next message. What has arrived before the end of the
// connection is read before its error.
func (s *socket) read(b *buffer.Buffer) error {
	_, r, err := s.ws.Reader(context.Background())
	if err != nil {
		return err
	}
	return b.Fill(r)
}

func (s *socket) write(b []byte) error {
	return s.ws.Write(context.Background(), websocket.MessageBinary, b)
}

// close closes the socket after what was written, and waits until the other end
// has read it.
func (s *socket) close() { s.ws.Close(websocket.StatusNormalClosure, "") }

// abort closes the socket at once.
func (s *socket) abort() { s.ws.CloseNow() }
