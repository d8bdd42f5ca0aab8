package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions names no HTTP client: the browser opens WebSockets.
func dialOptions(_ *http.Client, shown []string) *websocket.DialOptions {
	return &websocket.DialOptions{Subprotocols: append([]string{subprotocol}, shown...)}
}
