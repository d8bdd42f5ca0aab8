package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

// tokensEnv names the environment variable with a list of tokens.
const tokensEnv = "SAMESTEP_TOKENS"

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "host live matches",
		Description: `Hosts matches over WebSockets until it is interrupted; then it tells the
clients, completes the replays and exits. After a crash, --resume goes on with the
matches whose replays have no end, without their bots.

Who may do what is said by tokens: a list in a file (--tokens) or in the
environment (` + tokensEnv + `), one a line "ROLE SEAT NAME MATCH TOKEN", where a dash
is any seat and every match; or signed tokens (--jwt-key). Without either, the
server draws a token for each seat of each match and prints them. With --guests
it is open to everybody: guests need no token.

A player joins with: samestep join http://127.0.0.1:8766/matches/match-1
or in a browser: the page is at the address that is printed. From a checkout its
WebAssembly is built once, with the Go toolchain, into the user's cache directory;
release builds have it with them. Without either the rest works (--web=false).`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on"},
			&cli.StringFlag{Name: "game", Value: "skirmish", Usage: "what is played"},
			&cli.UintFlag{Name: "matches", Value: 1, Usage: "begin that many, named match-1, match-2, …; admins begin more over HTTP"},
			&cli.UintFlag{Name: "players", Value: 4, Usage: "seats of a match"},
			&cli.UintFlag{Name: "units", Value: 400, Usage: "units on the map at the start"},
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second, 1 to 1000"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the first match; each further one has the next"},
			&cli.StringFlag{Name: "dir", Value: "matches", Usage: "where replays and desync bundles are written; empty for nowhere"},
			&cli.BoolFlag{Name: "web", Value: true, Usage: "serve the game's page at /, to play and to watch replays in a browser"},
			&cli.BoolFlag{Name: "replays", Value: true, Usage: "let anybody list and download the replays of matches that are over"},
			&cli.StringFlag{Name: "durability", Value: "interval", Usage: "when replays are synced to the disk: none, interval (each second) or frame (nobody sees a tick before)"},
			&cli.BoolFlag{Name: "resume", Usage: "go on with the matches in --dir that a crash interrupted; their players need the same --tokens or --jwt-key"},
			&cli.BoolFlag{Name: "keep-open", Usage: "leave the replays of matches that are over as they were written, instead of compressing them"},
			&cli.DurationFlag{Name: "spectator-delay", Usage: "let spectators see the match `TIME` later than players"},
			&cli.UintFlag{Name: "guests", Usage: "let anybody take a free seat, and begin up to `N` matches at a time; 0: nobody"},
			&cli.UintFlag{Name: "guest-matches-per-address", Value: 2, Usage: "of these matches, begun by guests of one address"},
			&cli.UintFlag{Name: "guest-bots", Value: 32, Usage: "bots in all these matches together; 0: none"},
			&cli.Uint64Flag{Name: "guest-state", Value: 4 << 20, Usage: "bytes of state in all these matches together, for the server and each bot"},
			&cli.Uint64Flag{Name: "guest-disk", Value: 1 << 30, Usage: "bytes that the replays of these matches may take in a day; then no more begin"},
			&cli.Uint64Flag{Name: "match-disk", Value: 4 << 30, Usage: "bytes of a match's replay, and as many of its desync bundles; a match whose replay has as many ends; 0: any"},
			&cli.UintFlag{Name: "bots", Usage: "let bots take `N` seats of each match, with --guests"},
			&cli.BoolFlag{Name: "anonymous-spectators", Usage: "let anybody watch"},
			&cli.BoolFlag{Name: "relay", Usage: "order commands without simulating them: cheap, and without a referee"},
			&cli.StringFlag{Name: "input-delay", Value: "2", Usage: "ticks from a command's arrival to its effect, or auto: as the players' connections need"},
			&cli.DurationFlag{Name: "wait", Usage: "let the match wait for slow players, at most `TIME` a minute for each; 0: never"},
			&cli.UintFlag{Name: "slow", Usage: "let the match slow down for machines that cannot keep up, to `PERCENT` at least; 0: never"},
			&cli.DurationFlag{Name: "share", Value: 6 * time.Second, Usage: "what a match may lose because of one player, by --wait, --slow and --input-delay auto: `TIME` at once, and as much in each minute; twice that because of all players"},
			&cli.BoolFlag{Name: "vote-kick", Usage: "let players vote out a player who has used up its --share: more than half of the others write /kick and its seat or name into the chat"},
			&cli.StringFlag{Name: "desync", Value: "resync", Usage: "what becomes of a player whose checksum differs: log, resync or remove"},
			&cli.BoolFlag{Name: "explain", Usage: "explain each desync when its bundle is written, in the log and as a page beside it; costs seconds of a processor"},
			&cli.StringSliceFlag{Name: "origin", Usage: "`HOST` that a browser's page may come from, beside this one"},
			&cli.StringSliceFlag{Name: "allowed-host", Usage: "`NAME` of this server that requests may have in their Host header, besides what --listen names, localhost and the addresses that connections come to; a proxy in front of it needs this"},
			&cli.StringSliceFlag{Name: "trusted-proxy", Usage: "`ADDRESS`, or network as 10.0.0.0/8, of proxies in front of this server, whose X-Forwarded-For header says who asks; without it all behind a proxy share its limits"},
			&cli.UintFlag{Name: "max-per-address", Value: 64, Usage: "connections of one address, and those that it may open in a second"},
			&cli.UintFlag{Name: "max-unauthenticated", Value: 8, Usage: "connections of one address that have not shown a token; a new one closes the oldest"},
			&cli.UintFlag{Name: "max-spectators", Value: 64, Usage: "of a match"},
			&cli.DurationFlag{Name: "idle", Value: 5 * time.Minute, Usage: "end a match that nobody was connected to for `TIME`"},
			&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` with a certificate"},
			&cli.StringFlag{Name: "tls-key", Usage: "`FILE` with its key"},
			&cli.StringFlag{Name: "pprof", Usage: "`ADDRESS` for Go's profiles, for operators only"},
			&cli.BoolFlag{Name: "quiet", Usage: "log warnings and errors only"},
		}, tokenFlags...),
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("serve: unexpected argument %q", c.Args().First())
			}
			return serve(c)
		},
	}
}

func serve(c *cli.Context) error {
	g, err := gameNamed(c.String("game"))
	if err != nil {
		return err
	}
	specs, err := matchSpecs(c, g)
	if err != nil {
		return err
	}
	var stopped []interrupted
	if c.Bool("resume") {
		if stopped, err = findInterrupted(c, g); err != nil {
			return err
		}
		specs = slices.DeleteFunc(specs, func(s server.MatchSpec) bool {
			return slices.ContainsFunc(stopped, func(m interrupted) bool { return m.spec.Name == s.Name })
		})
	}
	bots := &botHost{ctx: c.Context, game: g, idle: c.Duration("idle"), joining: make(chan struct{}, 1)}
	all := slices.Clone(specs)
	for _, m := range stopped {
		all = append(all, m.spec)
	}
	o, tokens, err := serverOptions(c, g, all, bots)
	if err != nil {
		return err
	}
	s, err := server.New(o)
	if err != nil {
		return err
	}
	l, scheme, err := listen(c, s)
	if err != nil {
		return err
	}
	bots.log, bots.server = o.Log, s
	err = profiles(c.String("pprof"), o.Log)
	if err == nil {
		err = resume(c, s, stopped)
	}
	for i := 0; i < len(specs) && err == nil; i++ {
		specs[i].OnStart = bots.of(int(c.Uint("bots")))
		_, err = s.Create(specs[i]) // last, since it begins a replay
	}
	if err != nil {
		l.Close()
		return err
	}
	fmt.Fprintf(c.App.Writer, "listening on %s://%s\n", scheme, l.Addr())
	h := http.Handler(s)
	if g.page != nil && c.Bool("web") {
		h = newPageHandler(c.Context, g.page, s, o.Log)
	}
	defer tokens.reloadOnHangup(s, o.Log)()
	return serveUntilInterrupted(c.Context, s, h, l, o.Log)
}

// listen opens the server's port.
func listen(c *cli.Context, s *server.Server) (l net.Listener, scheme string, err error) {
	cert, key := c.String("tls-cert"), c.String("tls-key")
	if (cert == "") != (key == "") {
		return nil, "", usagef("serve: --tls-cert and --tls-key go together")
	}
	var pair tls.Certificate
	if cert != "" {
		if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
			return nil, "", err
		}
	}
	if l, err = net.Listen("tcp", c.String("listen")); err != nil {
		return nil, "", err
	}
	l = s.Listener(l)
	if cert == "" {
		return l, "http", nil
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), "https", nil
}

func serveUntilInterrupted(ctx context.Context, s *server.Server, handler http.Handler, l net.Listener, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	h := server.HTTPServer("", handler)
	h.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	var failure error
	select {
	case failure = <-failed: // the matches are ended all the same
	case <-ctx.Done():
	}
	stop() // a second interrupt ends the program
	log.Warn("shutting down")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(failure, s.Shutdown(ctx), h.Shutdown(ctx))
}

// profiles serves Go's profiles on an address of their own.
func profiles(addr string, log *slog.Logger) error {
	if addr == "" {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	go func() { log.Error("pprof", "err", http.Serve(l, mux)) }()
	return nil
}

func serverOptions(c *cli.Context, g *playable, specs []server.MatchSpec, bots *botHost) (server.Options, *tokenFile, error) {
	guests := c.Uint("guests")
	if c.Uint("bots") > 0 && guests == 0 || c.Uint("bots") > c.Uint("players") {
		return server.Options{}, nil, usagef("serve: --bots: they are guests (--guests), and at most as many as --players")
	}
	level := slog.LevelInfo
	if c.Bool("quiet") {
		level = slog.LevelWarn
	}
	o := server.Options{
		Dir: c.String("dir"), Replays: c.Bool("replays"), Origins: c.StringSlice("origin"), AllowedHosts: allowedHosts(c), MaxPerAddress: int(c.Uint("max-per-address")), MaxUnauthenticated: int(c.Uint("max-unauthenticated")),
		MaxMatches: max(1000, len(specs)), IdleMatch: c.Duration("idle"), KeepOpen: c.Bool("keep-open"),
		Log:      slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: level})),
		NewMatch: func(body io.Reader) (server.MatchSpec, error) { return requestedMatch(body, g, guests > 0, bots) }, GuestMatches: int(guests),
		GuestMatchesPerAddress: limit(c.Uint("guest-matches-per-address")), GuestBots: limit(c.Uint("guest-bots")), GuestStateBytes: int64(min(max(c.Uint64("guest-state"), 1), 1<<40)),
		GuestDiskBytes: int(min(max(c.Uint64("guest-disk"), 1), 1<<31-1)), MatchDiskBytes: limit64(c.Uint64("match-disk")),
	}
	var err error
	if o.TrustedProxies, err = trustedProxies(c.StringSlice("trusted-proxy")); err != nil {
		return o, nil, err
	}
	if c.Bool("explain") {
		o.OnBundle = explainer(o.Log)
	}
	if o.Durability, err = replay.ParseDurability(c.String("durability")); err != nil {
		return o, nil, usagef("serve: --durability: %v", err)
	}
	if o.Host, err = hostOptions(c); err != nil {
		return o, nil, err
	}
	a, tokens, err := authorizer(c, specs)
	o.Authorizer = openTo(guests, a)
	return o, tokens, err
}

// allowedHosts are the names by which this server may be asked for.
func allowedHosts(c *cli.Context) []string {
	listened, _, _ := net.SplitHostPort(c.String("listen")) // an error is listen's to tell
	return append(c.StringSlice("allowed-host"), listened)
}

// trustedProxies reads addresses and networks.
func trustedProxies(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil {
			a = a.Unmap()
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil || p.Bits() == 0 {
			return nil, usagef("serve: --trusted-proxy: got %q, want an address or a network, not of everybody", text)
		}
		all = append(all, p)
	}
	return all, nil
}

// limit returns a limit of the options, where none is a negative number.
func limit(n uint) int {
	if n == 0 {
		return -1
	}
	return int(min(n, 1<<31-1))
}

// limit64 returns a limit of the options, where any is a negative number.
func limit64(n uint64) int64 {
	if n == 0 {
		return -1
	}
	return int64(min(n, 1<<62))
}

// hostOptions are the policies that the flags name.
func hostOptions(c *cli.Context) (o host.Options, err error) {
	o = host.Options{
		Relay: c.Bool("relay"), AnonymousSpectators: c.Bool("anonymous-spectators") || c.Uint("guests") > 0, SpectatorChat: true, VoteKick: c.Bool("vote-kick"),
		MaxSpectators: int(c.Uint("max-spectators")),
		Wait:          host.WaitPolicy{Bound: lockstep.Time(c.Duration("wait").Microseconds())},
		Slow:          host.SlowPolicy{Percent: uint16(min(c.Uint("slow"), 1<<15))},
	}
	share := c.Duration("share")
	if share < time.Millisecond || share > time.Minute {
		return o, usagef("serve: --share: got %v, want 1ms to 1m", share)
	}
	o.Rates.Pace = host.Rate{N: int(share.Microseconds()), Per: 60 * lockstep.Second, Burst: int(share.Microseconds())}
	if delay := c.Duration("spectator-delay"); delay < 0 || o.Relay && delay > 0 || delay > time.Hour {
		return o, usagef("serve: --spectator-delay: got %v, want at most an hour, and none with --relay", delay)
	}
	o.SpectatorDelay = lockstep.Tick(c.Duration("spectator-delay") * time.Duration(c.Uint("tick-rate")) / time.Second)
	if delay := c.String("input-delay"); delay == "auto" {
		o.Delay = host.DelayPolicy{Min: 1, Max: lockstep.Tick(c.Uint("tick-rate")/2 + 1)}
	} else {
		n, err := strconv.ParseUint(delay, 10, 8)
		if err != nil || n < 1 || n > record.MaxInputDelay {
			return o, usagef("serve: --input-delay: got %q, want auto or 1 to %d", delay, record.MaxInputDelay)
		}
		o.InputDelay = lockstep.Tick(n)
	}
	switch policy := c.String("desync"); policy {
	case "log":
		o.Desync = host.LogDesynced
	case "resync":
		o.Desync = host.ResyncDesynced
	case "remove":
		o.Desync = host.RemoveDesynced
	default:
		return o, usagef("serve: --desync: got %q, want log, resync or remove", policy)
	}
	return o, nil
}

// matchSpecs are the matches that the flags ask for.
func matchSpecs(c *cli.Context, g *playable) ([]server.MatchSpec, error) {
	if c.Uint("players") < 1 || c.Uint("players") > lockstep.MaxPlayers || c.Uint("units") > 60000 || c.Uint("matches") > 100000 || c.Uint("tick-rate") > 1000 {
		return nil, usagef("serve: --players: want 1 to %d; --units: at most 60000; --matches: at most 100000; --tick-rate: 1 to 1000", lockstep.MaxPlayers)
	}
	var specs []server.MatchSpec
	for i := range c.Uint("matches") {
		specs = append(specs, matchSpec(g, matchRequest{
			Name: fmt.Sprintf("match-%d", i+1), Players: uint8(c.Uint("players")), Units: uint16(c.Uint("units")),
			TickRate: uint16(c.Uint("tick-rate")), Seed: c.Uint64("seed") + uint64(i),
		}))
	}
	return specs, nil
}

// A matchRequest is what an admin posts to begin a match.
type matchRequest struct {
	Name     string `json:"name"`
	Players  uint8  `json:"players"`
	Units    uint16 `json:"units"`
	TickRate uint16 `json:"tick_rate"`
	Seed     uint64 `json:"-"`    // see requestedMatch
	Bots     uint8  `json:"bots"` // that play, on a server that is open to guests
}

func matchSpec(g *playable, r matchRequest) server.MatchSpec {
	settings := lockstep.DefaultSettings(r.Players)
	settings.Seed, settings.TickRate, settings.CheckEvery = r.Seed, r.TickRate, max(1, r.TickRate)
	settings.KeyframeEvery = 60 * uint32(r.TickRate)
	return server.MatchSpec{Name: r.Name, Game: g.Game, Settings: settings, Config: g.config(r.Players, r.Units)}
}

// requestedMatch reads the body of a request for a match.
func requestedMatch(body io.Reader, g *playable, guests bool, bots *botHost) (server.MatchSpec, error) {
	r := struct {
		matchRequest
		Seed json.Number `json:"seed"` // a number or text, as views have it
	}{matchRequest{Players: 4, Units: 400, TickRate: 20}, "1"}
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		r.matchRequest.Seed, err = strconv.ParseUint(r.Seed.String(), 10, 64)
	}
	if err != nil {
		return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	if err := r.check(guests); err != nil {
		return server.MatchSpec{}, err
	}
	spec := matchSpec(g, r.matchRequest)
	spec.Bots, spec.OnStart = int(r.Bots), bots.of(int(r.Bots))
	return spec, nil
}
