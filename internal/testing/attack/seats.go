package attack

import (
	"context"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 5, Name: "seats", About: "one guest after the other joins and leaves a free seat again and again",
	Serve: openToGuests,
	Run: func(ctx context.Context, h *Attackers) error {
		token := guest("leaver", 0)
		return h.repeat(ctx, 1, 100, func(ctx context.Context, n int) error {
			if n%25 == 24 {
				token = guest("leaver", n) // the last guest has no welcomes left
			}
			p, err := h.join(ctx, token, protocol.SessionToken{})
			h.try(outcome(err))
			if err == nil {
				p.leave(ctx)
			}
			return nil
		})
	},
})
