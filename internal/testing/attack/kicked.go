package attack

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 15, Name: "kicked", About: "players and a guest reconnect as soon as they are kicked, with the token, the session, and other guests' names",
	Serve: openToGuests,
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 1, 10, func(ctx context.Context, n int) error {
			if n < attackers {
				return h.kicked(ctx, h.Tokens.Attackers[n], "")
			}
			return h.kicked(ctx, guest("kicked", n), guest("again", n))
		})
	},
})

// kicked joins as a player, is kicked, and reconnects. It also tries another token
// unless that is empty.
func (h *Attackers) kicked(ctx context.Context, token, another string) error {
	p, err := h.join(ctx, token, protocol.SessionToken{})
	if err != nil {
		h.try("refused before the kick: " + outcome(err))
		return nil
	}
	defer p.ws.CloseNow()
	if p.welcome.Role != protocol.Seated || int(p.welcome.Seat) < len(h.Tokens.Honest) {
		h.try("no seat")
		return nil
	}
	path := fmt.Sprintf("/matches/%s/kick?seat=%d", h.Match, p.welcome.Seat)
	status, _, err := h.ask(ctx, h.near, "POST", path, h.Tokens.Admin, "")
	for status == http.StatusServiceUnavailable && err == nil { // until the next tick
		sleep(ctx, 20*time.Millisecond)
		status, _, err = h.ask(ctx, h.near, "POST", path, h.Tokens.Admin, "")
	}
	if err != nil || status != http.StatusOK {
		h.try(fmt.Sprintf("not kicked: %d", status))
		return nil
	}
	for err == nil {
		err = p.read(ctx) // until the server closes it
	}
	for _, x := range []struct {
		how, token string
		session    protocol.SessionToken
	}{
		{"the token", token, protocol.SessionToken{}},
		{"the session", "", p.welcome.Session},
		{"the token and the session", token, p.welcome.Session},
		{"another guest's token", another, protocol.SessionToken{}},
	} {
		if x.token == "" && x.session == (protocol.SessionToken{}) {
			continue
		}
		back, err := h.join(ctx, x.token, x.session)
		h.try(outcome(err))
		if err != nil {
			continue
		}
		if back.welcome.Role == protocol.Seated {
			h.win("a kicked player is seated again with %s", x.how)
		}
		back.leave(ctx)
	}
	return nil
}
