package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions names no HTTP client: the browser opens WebSockets.
func dialOptions(*http.Client) *websocket.DialOptions {
	return &websocket.DialOptions{Subprotocols: []string{subprotocol}}
}
