package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// lobbyWaits is how long the servers of this attack let some players keep the others in a lobby.
const lobbyWaits = 500 * time.Millisecond

var _ = register(&Attack{
	Row: 20, Name: "lobby", About: "one of four players in a lobby takes back that it is ready, again and again; guests of one address take seats and do not play",
	Serve: func(string) ([]string, error) {
		return []string{"--guests", "8", "--set", "max-matches=100", "--set", "ready-deadline=" + lobbyWaits.String()}, nil
	},
	Run: func(ctx context.Context, h *Attackers) error {
		return h.repeat(ctx, 1, 4, func(ctx context.Context, n int) error {
			p, err := h.join(ctx, guest("idle", n), protocol.SessionToken{})
			if h.try("guest: " + outcome(err)); err == nil {
				defer p.ws.CloseNow()
			}
			return h.keepInLobby(ctx, n)
		})
	},
})

// keepInLobby makes a match of four players, of whom the last one does not let it begin.
func (h *Attackers) keepInLobby(ctx context.Context, n int) error {
	const players = 4
	if h.Tokens.Seats() < players {
		return fmt.Errorf("%w: the game has no match of %d", errUnfit, players)
	}
	name := fmt.Sprintf("lobby-%s-%d", randomText()[:8], n)
	tokens, err := h.createLobby(ctx, name, players)
	if err != nil || len(tokens) != players {
		h.try("no match")
		return nil // another server, which may refuse
	}
	defer h.ask(context.WithoutCancel(ctx), h.near, http.MethodDelete, "/matches/"+name, h.Tokens.Admin, "")
	var all []*peer
	for _, token := range tokens {
		p, err := openPeer(ctx, h.near, h.Server, name)
		if err == nil {
			err = p.join(ctx, h.game, token, protocol.SessionToken{})
		}
		if err != nil {
			h.try("not joined: " + outcome(err))
			return nil
		}
		defer p.ws.CloseNow()
		all = append(all, p)
	}
	for _, p := range all[:players-1] {
		if p.ready(ctx, true) != nil {
			return nil
		}
	}
	for began := time.Now(); ctx.Err() == nil; sleep(ctx, 20*time.Millisecond) {
		griefer := all[players-1]
		if griefer.ready(ctx, true) != nil || griefer.ready(ctx, false) != nil {
			break
		}
		status, text, err := h.ask(ctx, h.near, http.MethodGet, "/matches/"+name, h.Tokens.Admin, "")
		if err == nil && status == http.StatusOK && !inLobby(text) {
			h.try("begun")
			return nil
		}
		if time.Since(began) > 10*lobbyWaits {
			h.win("one player has kept a match in its lobby for %v", time.Since(began).Round(time.Second))
			return nil
		}
	}
	return nil
}

// createLobby lets the admin create a match that begins when all players are ready. It returns their tokens.
func (h *Attackers) createLobby(ctx context.Context, name string, players int) (tokens []string, err error) {
	body := fmt.Sprintf(`{"name":%q,"players":%d,"start":"ready","countdown":"0s"}`, name, players)
	status, text, err := h.ask(ctx, h.near, http.MethodPost, "/matches", h.Tokens.Admin, body)
	if err != nil || status != http.StatusCreated {
		return nil, err
	}
	var made struct{ Tokens []struct{ Token string } }
	err = json.Unmarshal([]byte(text), &made)
	for _, each := range made.Tokens {
		tokens = append(tokens, each.Token)
	}
	return tokens, err
}

// inLobby reports whether the view of a match says that it has not begun.
func inLobby(view string) bool {
	var v struct{ State string }
	return json.Unmarshal([]byte(view), &v) != nil || v.State == "lobby"
}

// ready says whether the peer is ready.
func (p *peer) ready(ctx context.Context, is bool) error {
	return p.say(ctx, &protocol.Message{Kind: protocol.KindReady, Ready: is})
}
