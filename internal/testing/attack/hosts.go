package attack

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
)

var _ = register(&Attack{
	Row: 12, Name: "hosts", About: "Host and Origin are the same foreign name, as with DNS rebinding",
	Run: func(ctx context.Context, h *Hands) error {
		const name = "rebound.example"
		return h.repeat(ctx, 2, 50, func(ctx context.Context, n int) error {
			c, err := h.socket(ctx)
			if err != nil {
				return nil // the server's to do
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			path, upgrade := "/matches", ""
			if n%2 == 0 {
				path = "/matches/" + h.Match + "/play"
				upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + subprotocol + "\r\n"
			}
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n%s\r\n", path, name, name, upgrade)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				h.try("cut")
				return nil
			}
			resp.Body.Close()
			h.try(fmt.Sprint(resp.StatusCode))
			if resp.StatusCode < 400 {
				h.win("%s for the host %s: got %d", path, name, resp.StatusCode)
			}
			return nil
		})
	},
})
