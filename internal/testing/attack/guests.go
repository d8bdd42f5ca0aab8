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
	Row: 7, Name: "guests", About: "guests ask for matches with 16 bots and 3,000 or 1,200 units",
	Serve: openToGuests, Lasts: true,
	Run: func(ctx context.Context, h *Attackers) error {
		begun := 0
		return h.repeat(ctx, 1, 20, func(ctx context.Context, n int) error {
			// The largest match that is accepted: the server refuses larger ones at once.
			bots, units := 16, 3000
			if n%2 == 1 {
				units = 1200
			}
			body := fmt.Sprintf(`{"name":"guests-%s","players":16,"bots":%d,"units":%d,"tick_rate":20}`, randomText()[:8], bots, units)
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
