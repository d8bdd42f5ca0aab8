package client

import (
	"context"
	"net"

	"github.com/coder/websocket"
)

// dial opens a WebSocket of the browser.
func dial(ctx context.Context, url string, _ func(net.Conn) net.Conn) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{Subprotocol}})
	return ws, err
}
