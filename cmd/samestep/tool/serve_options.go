//go:build !js

package tool

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

func serverOptions(c *cli.Context, g *playable, specs []server.MatchSpec, bots *botHost) (server.Options, *tokenFile, error) {
	guests := c.Uint("guests")
	if c.Uint("bots") > c.Uint("players") {
		return server.Options{}, nil, usagef("--bots: got %d, want at most --players", c.Uint("bots"))
	}
	level := slog.LevelInfo
	if c.Bool("quiet") {
		level = slog.LevelWarn
	}
	o := server.Options{
		Dir: c.String("dir"), Replays: c.Bool("replays"), Origins: c.StringSlice("origin"), AllowedHosts: allowedHosts(c),
		MaxPerAddress: int(c.Uint("max-per-address")), MaxUnauthenticated: int(c.Uint("max-unauthenticated")),
		MaxMatches: max(1000, len(specs)), IdleMatch: c.Duration("idle"), KeepOpen: c.Bool("keep-open"),
		Log:      slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: level})),
		NewMatch: func(body io.Reader) (server.MatchSpec, error) { return requestedMatch(body, g, guests > 0, bots) }, GuestMatches: int(guests),
		GuestMatchesPerAddress: int(limit(c.Uint("guest-matches-per-address"), 1<<31-1)), GuestBots: int(limit(c.Uint("guest-bots"), 1<<31-1)),
		GuestStateBytes: int64(min(max(c.Uint64("guest-state"), 1), 1<<40)),
		GuestDiskBytes:  int(min(max(c.Uint64("guest-disk"), 1), 1<<31-1)), MatchDiskBytes: limit(c.Uint64("match-disk"), 1<<62),
	}
	var err error
	if o.TrustedProxies, err = trustedProxies(c.StringSlice("trusted-proxy")); err != nil {
		return o, nil, err
	}
	if c.Bool("explain") {
		o.OnBundle = explainer(o.Log, gamesOf(c))
	}
	if o.Durability, err = replay.ParseDurability(c.String("durability")); err != nil {
		return o, nil, usagef("--durability: %v", err)
	}
	if o.Host, err = hostOptions(c); err != nil {
		return o, nil, err
	}
	a, tokens, err := authorizer(c, specs)
	o.Authorizer = openTo(guests, a)
	return o, tokens, err
}

// allowedHosts returns the names that a Host header may have.
func allowedHosts(c *cli.Context) []string {
	listened, _, _ := net.SplitHostPort(c.String("listen")) // listen reports errors
	return append(c.StringSlice("allowed-host"), listened)
}

// trustedProxies parses addresses and networks.
func trustedProxies(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil {
			a = a.Unmap()
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil || p.Bits() == 0 {
			return nil, usagef("--trusted-proxy: got %q, want an address, or a network smaller than all addresses", text)
		}
		all = append(all, p)
	}
	return all, nil
}

// limit converts a flag to an option of the server, for which 0 is the default: it turns 0 into -1.
func limit[N uint | uint64](n, most N) int64 {
	if n == 0 {
		return -1
	}
	return int64(min(n, most))
}

// hostOptions returns the policies of the matches.
func hostOptions(c *cli.Context) (o host.Options, err error) {
	o = host.Options{
		Relay: c.Bool("relay"), AnonymousSpectators: c.Bool("anonymous-spectators") || c.Uint("guests") > 0, SpectatorChat: true, VoteKick: c.Bool("vote-kick"),
		MaxSpectators: int(c.Uint("max-spectators")),
		Wait:          host.WaitPolicy{Bound: lockstep.Time(c.Duration("wait").Microseconds())},
		Slow:          host.SlowPolicy{Percent: uint16(min(c.Uint("slow"), 1<<15))},
	}
	if err := between(c, "share", time.Millisecond, time.Minute); err != nil {
		return o, err
	}
	share := int(c.Duration("share").Microseconds())
	o.Rates.Pace = host.Rate{N: share, Per: 60 * lockstep.Second, Burst: share}
	if delay := c.Duration("spectator-delay"); delay < 0 || o.Relay && delay > 0 || delay > time.Hour {
		return o, usagef("--spectator-delay: got %v, want at most 1h, and 0 with --relay", delay)
	}
	o.SpectatorDelay = lockstep.Tick(c.Duration("spectator-delay") * time.Duration(c.Uint("tick-rate")) / time.Second)
	if delay := c.String("input-delay"); delay == "auto" {
		o.Delay = host.DelayPolicy{Min: 1, Max: lockstep.Tick(c.Uint("tick-rate")/2 + 1)}
	} else {
		n, err := strconv.ParseUint(delay, 10, 8)
		if err != nil || n < 1 || n > record.MaxInputDelay {
			return o, usagef("--input-delay: got %q, want auto or 1 to %d", delay, record.MaxInputDelay)
		}
		o.InputDelay = lockstep.Tick(n)
	}
	policies := map[string]host.DesyncPolicy{"log": host.LogDesynced, "resync": host.ResyncDesynced, "remove": host.RemoveDesynced}
	policy, ok := policies[c.String("desync")]
	if !ok {
		return o, usagef("--desync: got %q, want log, resync or remove", c.String("desync"))
	}
	o.Desync = policy
	return o, nil
}
