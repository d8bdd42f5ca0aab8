package client

import (
	"context"

	"github.com/coder/websocket"
)

// dial opens a WebSocket of the browser.
func dial(ctx context.Context, url string, _ *Options) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{Subprotocol}})
	return ws, err
}
