package attack

import (
	"context"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 3, Name: "session", About: "a guest who was replaced by the holder of the seat's token reconnects with the old session",
	Serve: openToGuests,
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 1, 4, func(ctx context.Context, n int) error { return h.steal(ctx, n) })
	},
})

// steal tries once to take a seat back from the holder of its token.
func (h *Attackers) steal(ctx context.Context, n int) error {
	token := guest("thief", n)
	thief, err := h.join(ctx, token, protocol.SessionToken{})
	if err != nil || thief.welcome.Role != protocol.Seated {
		h.try("no seat")
		return nil
	}
	defer thief.ws.CloseNow()
	seat, honest := thief.welcome.Seat, len(h.Tokens.Honest)
	if int(seat) < honest || int(seat)-honest >= len(h.Tokens.Holders) {
		h.win("a guest got seat %d of an honest player", seat)
		return nil
	}
	holder, err := h.join(ctx, h.Tokens.Holders[int(seat)-honest], protocol.SessionToken{})
	if err != nil {
		h.try("no holder")
		return nil
	}
	defer holder.leave(context.WithoutCancel(ctx))
	for err == nil {
		err = thief.read(ctx) // until the server closes it as replaced
	}
	for _, shown := range []string{token, ""} {
		back, err := h.join(ctx, shown, thief.welcome.Session)
		h.try("with the session: " + outcome(err))
		if err != nil {
			continue
		}
		if back.welcome.Resumed || back.welcome.Role == protocol.Seated && back.welcome.Seat == seat {
			h.win("a replaced guest has seat %d again", seat)
		}
		back.leave(ctx)
	}
	return nil
}
