//go:build !js

package serving

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// checkCompat checks compat and player-tokens, and gives a match as many seats as there are tokens by default.
func checkCompat(c *cli.Context, g *gameset.Playable) error {
	if c.Bool("compat") && g.Compat == nil {
		return console.Usagef("compat: game %s has no other wire; --game chooses another game", g.Name())
	}
	if c.Bool("compat") && c.Bool("relay") {
		return console.Usagef("compat: got relay, want a referee, which refuses commands that stop other clients")
	}
	if c.Bool("compat") && c.String("players-see") == "views" {
		return console.Usagef("compat: got players-see views, want all: clients of the other wire are sent every state")
	}
	if c.Bool("compat") && c.Uint("guests") > 0 {
		return console.Usagef("compat: got --guests, whose limits count addresses, and those of other clients are not told to the match")
	}
	if !c.IsSet("player-tokens") {
		return nil
	}
	tokens := playerTokens(c)
	for i, token := range tokens {
		if slices.Contains(tokens[:i], token) {
			return console.Usagef("player-tokens: got the token of seat %d again for seat %d, want another for each", slices.Index(tokens, token), i)
		}
	}
	if len(tokens) == 0 || len(tokens) > lockstep.MaxPlayers {
		return console.Usagef("player-tokens: got %d, want 1 to %d", len(tokens), lockstep.MaxPlayers)
	}
	if !c.IsSet("players") && c.String("from") == "" {
		if err := c.Set("players", strconv.Itoa(len(tokens))); err != nil {
			return err
		}
	}
	if c.IsSet("players") && uint(len(tokens)) > c.Uint("players") {
		return console.Usagef("player-tokens: got %d, want at most %d, the --players", len(tokens), c.Uint("players"))
	}
	if !isLoopback(c.String("listen")) || len(c.StringSlice("trusted-proxy")) > 0 {
		return console.Usagef("player-tokens: anybody could guess a short token: want --listen on a loopback address such as 127.0.0.1:8766, and no trusted-proxy; otherwise use --tokens")
	}
	return nil
}

// isLoopback reports whether only this machine can connect to an address.
func isLoopback(listen string) bool {
	if strings.HasPrefix(listen, "unix:") {
		return true
	}
	name, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// playerTokens returns the tokens of player-tokens.
func playerTokens(c *cli.Context) (all shortTokens) {
	for _, words := range c.StringSlice("player-tokens") {
		all = append(all, strings.Fields(words)...)
	}
	return all
}

// shortTokens is a [server.Authorizer] for tokens of any length, by seat.
type shortTokens []string

// Authorize implements [server.Authorizer].
func (t shortTokens) Authorize(token, _ string) (host.Grant, error) {
	got := sha256.Sum256([]byte(token))
	for seat, own := range t {
		if want := sha256.Sum256([]byte(own)); subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			name := fmt.Sprintf("player-%d", seat)
			return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(seat), Subject: name, Name: name}, nil
		}
	}
	return host.Grant{}, fmt.Errorf("%w: it is not among player-tokens", server.ErrRefused)
}

// watchedByAll reports whether everybody may watch. Where players see views only, a player who also watched could see more, so
// only the flag allows it.
func watchedByAll(c *cli.Context) bool {
	if c.String("players-see") == "views" {
		return c.Bool("anonymous-spectators")
	}
	return c.Bool("anonymous-spectators") || c.Uint("guests") > 0 || c.Bool("compat") && !c.IsSet("player-tokens")
}

// addCompat adds the handler of the other wire to a server, and warns of short tokens.
func addCompat(c *cli.Context, g *gameset.Playable, s *server.Server, o *server.Options) {
	if c.IsSet("player-tokens") {
		o.Log.Warn("player-tokens: every user of this machine can take a seat with a short token", "seats", len(playerTokens(c)))
	}
	if !c.Bool("compat") {
		return
	}
	s.HandleOtherSockets(g.Compat.Bridge(s, gameset.CompatOptions{
		Match: "match-1", Strangers: !c.IsSet("player-tokens"), Origins: o.Origins, MaxPerAddress: o.MaxPerAddress, Log: o.Log,
	}))
}

// setCompat gives a match the usual settings of the other wire.
func setCompat(g *gameset.Playable, c *cli.Context, s *lockstep.Settings) {
	if !c.Bool("compat") {
		return
	}
	if !c.IsSet("tick-rate") {
		s.TickMicros = g.Compat.Usual.TickMicros
	}
	s.CheckEvery, s.KeyframeEvery = g.Compat.Usual.CheckEvery, g.Compat.Usual.KeyframeEvery
}

// aroundPage serves other WebSockets, which may come to any path, and leaves everything else to the page and what is
// behind it.
func aroundPage(page, behind http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if server.IsOtherSocket(r) {
			behind.ServeHTTP(w, r)
		} else {
			page.ServeHTTP(w, r)
		}
	})
}
