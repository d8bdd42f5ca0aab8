//go:build !js

package attack

import (
	"net/http"

	"github.com/coder/websocket"
)

// dialOptions makes WebSockets use an HTTP client, which dials loopback addresses only.
func dialOptions(c *http.Client, shown []string) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPClient: c, Subprotocols: append([]string{subprotocol}, shown...), CompressionMode: websocket.CompressionDisabled}
}
