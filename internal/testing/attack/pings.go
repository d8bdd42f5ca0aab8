package attack

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// upgrade is the part of a request's head that opens a WebSocket.
const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + subprotocol + "\r\n"

// pingsAtOnce is how many pings are written at a time.
const pingsAtOnce = 500

var _ = register(&Attack{
	Row: 11, Name: "pings", About: "WebSocket pings as fast as the server reads them, on one connection after the other",
	Run: func(ctx context.Context, h *Attackers) error {
		ping := bytes.Repeat([]byte{0x89, 0x80, 0, 0, 0, 0}, pingsAtOnce) // final, masked, empty
		return h.repeat(ctx, 4, 200, func(ctx context.Context, _ int) error {
			c, err := h.socket(ctx)
			if err != nil {
				return nil // the server may refuse
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			fmt.Fprintf(c, "GET /matches/%s/play HTTP/1.1\r\nHost: %s\r\n%s\r\n", h.Match, h.address(), upgrade)
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, nil)
			if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				h.try("no upgrade")
				return nil
			}
			go io.Copy(io.Discard, r) // pongs, until c is closed
			for n := 0; ; n += pingsAtOnce {
				if _, err := c.Write(ping); err != nil || ctx.Err() != nil {
					h.try("closed")
					return nil
				}
			}
		})
	},
})
