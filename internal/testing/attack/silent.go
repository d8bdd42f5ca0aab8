package attack

import "context"

var _ = register(&Attack{
	Row: 2, Name: "silent", About: "64 silent WebSockets, each opened again when it is closed",
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 64, 500, func(ctx context.Context, _ int) error {
			p, err := h.open(ctx)
			if err != nil {
				h.try(outcome(err))
				return nil
			}
			defer p.ws.CloseNow()
			h.try("opened")
			for err == nil {
				err = p.read(ctx) // until the server closes it
			}
			return nil
		})
	},
})
