//go:build !js

package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions makes WebSockets go through a client, which dials loopback only.
func dialOptions(c *http.Client) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled}
}
