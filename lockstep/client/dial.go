//go:build !js

package client

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// dial opens a WebSocket, over a wrapped network connection if wrap is not nil.
func dial(ctx context.Context, url string, wrap func(net.Conn) net.Conn) (*websocket.Conn, error) {
	o := &websocket.DialOptions{Subprotocols: []string{Subprotocol}, CompressionMode: websocket.CompressionDisabled}
	if wrap != nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		var d net.Dialer
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := d.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return wrap(c), nil
		}
		o.HTTPClient = &http.Client{Transport: transport}
	}
	ws, _, err := websocket.Dial(ctx, url, o)
	return ws, err
}
