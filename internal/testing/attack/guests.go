package attack

import (
	"context"
	"fmt"
	"net/http"
)

// guestMatches is how many matches the guests of an address may have begun, by
// default.
const guestMatches = 2

var _ = register(&Attack{
	Row: 7, Name: "guests", About: "guests ask for matches with 16 bots and 3,000 or 1,200 units",
	Serve: openToGuests, Lasts: true,
	Run: func(ctx context.Context, h *Hands) error {
		begun := 0
		return h.repeat(ctx, 1, 20, func(ctx context.Context, n int) error {
			// The largest that is accepted: what is beyond the budgets costs little.
			bots, units := 16, 3000
			if n%2 == 1 {
				units = 1200
			}
			body := fmt.Sprintf(`{"name":"guests-%s","players":16,"bots":%d,"units":%d,"tick_rate":20}`, randomText()[:8], bots, units)
			status, _, err := h.ask(ctx, h.client, "POST", "/matches", guest("host", n), body)
			if err != nil {
				return nil // the server's to do
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
