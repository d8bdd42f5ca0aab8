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
	Row: 7, Name: "guests", About: "guests ask for matches with 16 bots and 3,000 units",
	Serve: openToGuests, Lasts: true,
	Run: func(ctx context.Context, h *Hands) error {
		begun := 0
		return h.repeat(ctx, 1, 20, func(ctx context.Context, n int) error {
			body := fmt.Sprintf(`{"name":"guests-%s","players":16,"bots":16,"units":3000,"tick_rate":20}`, randomText()[:8])
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
