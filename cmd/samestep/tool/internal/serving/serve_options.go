//go:build !js

package serving

import (
	"io"
	"net"
	"net/http"
	"net/netip"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

func serverOptions(c *cli.Context, games gameset.List, specs []server.MatchSpec, policy *MatchPolicy) (server.Options, reloader, error) {
	guests := c.Uint("guests")
	if err := checkBots(c, specs); err != nil {
		return server.Options{}, nil, err
	}
	if c.Bool("bundles") && !c.Bool("replays") {
		return server.Options{}, nil, console.Usagef("bundles: got it with replays: false, want it with replays")
	}
	log, err := NewLog(c)
	if err != nil {
		return server.Options{}, nil, err
	}
	o := server.Options{
		Dir: c.String("dir"), Replays: c.Bool("replays"), ReplaysHere: !c.IsSet("replays"), Bundles: c.Bool("bundles"), Origins: c.StringSlice("origin"), AllowedHosts: allowedHosts(c),
		AwaitPlayers: c.Duration("await-players"), KeepOpen: c.Bool("keep-open"),
		Log: log, NewMatch: func(body io.Reader) (server.MatchSpec, error) { return RequestedMatch(body, games, guests > 0, policy) },
	}
	limitsFor(c, len(specs)).SetIn(&o)
	if err := setProxies(c, &o); err != nil {
		return o, nil, err
	}
	if c.Bool("explain") {
		o.OnBundle = desyncs.Explainer(c, o.Log)
	}
	if o.Durability, err = durabilityOf(c); err != nil {
		return o, nil, err
	}
	if err := SendRules(gameset.Listed(c), &o); err != nil {
		return o, nil, err
	}
	if o.Rules != nil && !console.MayCompile() {
		log.Warn("modules of rules are interpreted, many times slower: this process may not make memory executable; see MemoryDenyWriteExecute of systemd")
	}
	a, files, err := authorizer(c, specs, log)
	o.Authorizer = openTo(guests, a)
	return o, files, err
}

// checkBots refuses bots without a seat.
func checkBots(c *cli.Context, specs []server.MatchSpec) error {
	bots := c.Uint("bots")
	for i := range specs {
		if seats := specs[i].Settings.Players; specs[i].From != nil && bots > uint(seats) {
			return console.Usagef("--bots: got %d, want at most %d, the seats of --from", bots, seats)
		}
	}
	if c.String("from") == "" && bots > c.Uint("players") {
		return console.Usagef("--bots: got %d, want at most --players", bots)
	}
	return nil
}

// allowedHosts returns the names that a Host header may have.
func allowedHosts(c *cli.Context) []string {
	names := c.StringSlice("allowed-host")
	if listened, _, _ := net.SplitHostPort(c.String("listen")); listened != "" { // listen reports errors
		names = append(names, listened)
	}
	return names
}

// setProxies sets the options of proxies.
func setProxies(c *cli.Context, o *server.Options) error {
	for _, text := range c.StringSlice("trusted-proxy") {
		if text == "unix" {
			o.TrustUnix = true
			continue
		}
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil {
			a = a.Unmap()
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil || p.Bits() == 0 {
			return console.Usagef("trusted-proxy: got %q, want an address, a network smaller than all addresses, or unix", text)
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	o.ProxyHeader, o.ProxyProtocol = http.CanonicalHeaderKey(c.String("proxy-header")), c.Bool("proxy-protocol")
	if h := o.ProxyHeader; h != "X-Forwarded-For" && h != "Forwarded" {
		return console.Usagef("proxy-header: got %q, want X-Forwarded-For or Forwarded", h)
	}
	if o.ProxyProtocol && !o.TrustUnix && len(o.TrustedProxies) == 0 {
		return console.Usagef("proxy-protocol needs trusted-proxy")
	}
	return checkDatagrams(c)
}

// limit converts a flag to an option of the server, for which 0 is the default: it turns 0 into -1.
func limit[N uint | uint64](n, most N) int64 {
	if n == 0 {
		return -1
	}
	return int64(min(n, most))
}

// replicated is the --durability with which an extension keeps the logs of matches on several machines.
const replicated = "replicated"

// durabilityOf returns the durability of the files on this machine.
func durabilityOf(c *cli.Context) (replay.Durability, error) {
	if c.String("durability") == replicated {
		return replay.SyncInterval, nil
	}
	return replay.ParseDurability(c.String("durability"))
}
