package attack

import (
	"context"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 9, Name: "keyframes", About: "spectators join, take the state, and go",
	Serve: openToGuests, // who may watch without a token, too
	Run: func(ctx context.Context, h *Hands) error {
		return h.repeat(ctx, 16, 400, func(ctx context.Context, n int) error {
			token := ""
			if n%2 == 0 {
				token = h.Tokens.Watchers[n%watchers]
			}
			p, err := h.join(ctx, token, protocol.SessionToken{})
			h.try(outcome(err))
			if err != nil {
				return nil
			}
			if p.until(ctx, func() bool { return p.synced > 0 }) == nil {
				h.try("state")
			}
			p.ws.CloseNow()
			return nil
		})
	},
})
