//go:build !js

package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions makes WebSockets use an HTTP client, which dials loopback addresses only.
func dialOptions(c *http.Client) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled}
}
