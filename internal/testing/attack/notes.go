package attack

import (
	"context"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 1, Name: "notes", About: "spectators chat and reconnect; guests join under one new name after the other",
	Serve: openToGuests,
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 6, 400, func(ctx context.Context, n int) error {
			token := h.Tokens.Watchers[n%watchers]
			if n%3 == 0 {
				token = guest("name", n)
			}
			p, err := h.join(ctx, token, protocol.SessionToken{})
			h.try(outcome(err))
			if err != nil {
				return nil // the server may refuse
			}
			for range 5 {
				if p.say(ctx, &protocol.Message{Kind: protocol.KindChat, Text: strings.Repeat("chat ", 180)}) != nil {
					break
				}
			}
			p.leave(ctx)
			return nil
		})
	},
})

// openToGuests lets guests play and begin matches.
func openToGuests(string) ([]string, error) { return []string{"--guests", "8"}, nil }
