package attack

import (
	"context"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 9, Name: "keyframes", About: "spectators join, receive the state, and disconnect",
	Serve: openToGuests, // everybody may watch without a token
	Run: func(ctx context.Context, h *Attackers) error {
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
			for err == nil && p.synced == 0 {
				err = p.read(ctx)
			}
			if err == nil {
				h.try("state")
			}
			p.ws.CloseNow()
			return nil
		})
	},
})
