package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions has no client: what is beneath a WebSocket is the browser's.
func dialOptions(*http.Client) *websocket.DialOptions {
	return &websocket.DialOptions{Subprotocols: []string{subprotocol}}
}
