package attack

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
)

var _ = register(&Attack{
	Row: 12, Name: "hosts", About: "Host and Origin name the same foreign host, as with DNS rebinding",
	Run: func(ctx context.Context, h *Attackers) error {
		const name = "rebound.example"
		return h.repeat(ctx, 2, 50, func(ctx context.Context, n int) error {
			c, err := h.socket(ctx)
			if err != nil {
				return nil // the server may refuse
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			path, more := "/matches", ""
			if n%2 == 0 {
				path, more = "/matches/"+h.Match+"/play", upgrade
			}
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n%s\r\n", path, name, name, more)
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
