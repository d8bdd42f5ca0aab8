package attack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 10, Name: "bearers", About: "wrong tokens from the address of the honest players",
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 2, 100, func(ctx context.Context, n int) error {
			switch n % 10 {
			case 0: // the admin, who shares the address
				status, _, err := h.ask(ctx, h.near, "DELETE", "/matches/nothing", h.Tokens.Admin, "")
				if err == nil && status != http.StatusNotFound {
					h.win("the admin is locked out: got %d", status)
				}
			case 1:
				p, err := openPeer(ctx, h.near, h.Server, h.Match)
				if err != nil {
					return nil // the server may refuse
				}
				err = p.join(ctx, h.game, randomText(), protocol.SessionToken{})
				h.try("WebSocket: " + outcome(err))
				if err == nil {
					h.win("a wrong token was welcomed")
					p.leave(ctx)
				}
			default:
				path := []string{"/matches", "/matches/" + h.Match + "/pause", "/matches/" + h.Match + "/kick"}[n%3]
				status, _, err := h.ask(ctx, h.near, "POST", path, randomText(), "")
				if err != nil {
					return nil
				}
				h.try(fmt.Sprint(status))
				if status != http.StatusForbidden && status != http.StatusTooManyRequests {
					h.win("%s with a wrong token: got %d", path, status)
				}
			}
			return nil
		})
	},
})
