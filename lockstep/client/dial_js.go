package client

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/coder/websocket"
)

// errNoWebSocket: a JavaScript engine without sockets, such as an old Node.
var errNoWebSocket = errors.New("client: there is no WebSocket here")

// dial opens a WebSocket of the browser.
func dial(ctx context.Context, url string, _ *Options) (*websocket.Conn, error) {
	if js.Global().Get("WebSocket").IsUndefined() {
		return nil, errNoWebSocket
	}
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{Subprotocol}})
	return ws, err
}
