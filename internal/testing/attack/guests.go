package attack

import (
	"context"
	"fmt"
	"net/http"
)

// guestMatches is the default of the server's limit of matches that the guests of one
// address have begun.
const guestMatches = 2

var _ = register(&Attack{
	Row: 7, Name: "guests", About: "guests ask for large matches in which bots have all seats",
	Serve: openToGuests, Lasts: true,
	Run: func(ctx context.Context, h *Attackers) error {
		begun := 0
		return h.repeat(ctx, 1, 20, func(ctx context.Context, n int) error {
			// The largest match that is accepted: the server refuses larger ones at once.
			units, seats := 3000, h.Tokens.Seats()
			if n%2 == 1 {
				units = 1200
			}
			if !h.Units {
				units = 0 // as many as usual
			}
			body := fmt.Sprintf(`{"name":"guests-%s","players":%d,"bots":%d,"units":%d,"tick_rate":20}`, randomText()[:8], seats, seats, units)
			status, _, err := h.ask(ctx, h.client, "POST", "/matches", guest("host", n), body)
			if err != nil {
				return nil // the server may refuse
			}
			h.try(fmt.Sprint(status))
			if status == http.StatusCreated {
				if begun++; begun > guestMatches {
					h.win("guests of one address have begun %d matches", begun)
				}
			}
			return nil
		})
	},
})
