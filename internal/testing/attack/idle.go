package attack

import (
	"context"
	"fmt"
)

// idleSockets is how many connections are open at a time. Some systems have no file
// descriptors for more, and the server's limits are far below.
const idleSockets = 2000

var _ = register(&Attack{
	Row: 6, Name: "idle", About: "2,000 silent connections, each opened again when it is closed, and 400 GET /matches a second",
	Serve: func(string) ([]string, error) { return []string{"--matches", "30"}, nil },
	Run: func(ctx context.Context, h *Attackers) error {
		reads := make(chan error, 1)
		go func() {
			reads <- h.repeat(ctx, 4, 400, func(ctx context.Context, _ int) error {
				if status, _, err := h.ask(ctx, h.client, "GET", "/matches", "", ""); err == nil {
					h.try(fmt.Sprint("GET: ", status))
				}
				return nil
			})
		}()
		err := h.repeat(ctx, idleSockets, 400, func(ctx context.Context, _ int) error {
			c, err := h.socket(ctx)
			if err != nil {
				h.try("not accepted")
				return nil
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			h.try("connected")
			c.Read(make([]byte, 1)) // until the server closes it
			return nil
		})
		if failed := <-reads; err == nil {
			err = failed
		}
		return err
	},
})
