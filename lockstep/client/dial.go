//go:build !js

package client

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

var errTransport = errors.New("want an http.Transport to put Wrap into")

// dial opens a WebSocket.
func dial(ctx context.Context, url string, o *Options) (*websocket.Conn, error) {
	hc, done, err := o.httpClient()
	if err != nil {
		return nil, err
	}
	defer done()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient: hc, Subprotocols: []string{Subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	return ws, err
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
