//go:build !js

package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/lockstep/server/agones"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "host live matches",
		Description: `Hosts matches over WebSockets until it is interrupted. Then it suspends them: it tells
the clients when to come back, and exits. The next start with --resume goes on with
these matches, and with those that a crash has stopped. Only the rules, an admin,
--abandoned or --idle end a match.

Tokens carry the rights of clients. They are a list in a file (--tokens) or in the
environment (` + tokensEnv + `), with a line "ROLE SEAT NAME MATCH TOKEN" for each, where
a dash stands for any seat or every match; or they are signed tokens (--jwt-key).
The SEAT of a spectator can be player:N, team:N or role:NAME: it gets the views of that
one, as a coach, and sees nothing else.
Without either, the server draws a token for each seat of each match into tokens.txt in
--dir, which only its user can read, and prints them on a terminal. With --resume these
tokens stay valid. With --guests the server is open to everybody: guests need no token.

A player joins with: samestep join http://127.0.0.1:8766/matches/match-1
or in a browser, at the address that is printed. In a checkout, the page's
WebAssembly is built once, with the Go toolchain, into the user's cache directory.
Release builds embed it. --web=false works without both.

In a pod of Agones, which sets ` + agones.PortVariable + `, it tells the sidecar that it
lives, is ready, has a match that somebody plays, and has ended.`,
		Flags: fromEnvironment(append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on; port 0 is any free port; unix:PATH is a unix socket, and systemd the socket of a unit"},
			&cli.StringFlag{Name: "base-path", Value: "/", Usage: "serve everything below `PATH`, such as /game/, behind a proxy that passes it on"},
			settingsFlag, writeSettingsFlag,
			&cli.BoolFlag{Name: "check-config", Usage: "only check the flags and the files that they name, and print ok"},
			gameFlag, assetsFlag,
			&cli.UintFlag{Name: "matches", Value: 1, Usage: "create `N` matches, named match-1, match-2, …; admins create more over HTTP"},
			&cli.StringFlag{Name: "from", Usage: "begin the matches in the state of a replay after a tick: `REPLAY[@TICK]`, or a time such as @20m; without either, after the last tick; they have the settings and the configuration of the replay"},
			&cli.StringSliceFlag{Name: "seat", Usage: "with --from: keep a seat for the player with this name or subject in the tokens, as `SEAT=NAME`, whatever seat the token has; repeat the flag for several seats"},
			&cli.UintFlag{Name: "players", Value: 4, Usage: "seats of a match"},
			configFlag, unitsFlag, scenarioFlag,
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second, 1 to 1000"},
			&cli.UintFlag{Name: "tick-ms", Usage: "`MS` from one tick to the next, 1 to 60000, for games slower than --tick-rate allows or with an exact period"},
			&cli.Uint64Flag{Name: "seed", Usage: "seed of the first match; each further match has the next one; 0: each match draws its own"},
			&cli.StringFlag{Name: "dir", Value: "matches", Usage: "`FOLDER` for replays and desync bundles; empty: write none"},
			&cli.BoolFlag{Name: "web", Value: true, Usage: "serve the game's page at /, to play and to watch replays in a browser"},
			&cli.BoolFlag{Name: "replays", Value: true, DefaultText: "to clients on this machine", Usage: "let anybody list and download the replays of matches that are over; =false: only their players and admins"},
			&cli.BoolFlag{Name: "bundles", Usage: "with --replays: let anybody download the desync bundles of these matches too, so that links to them open in the page"},
			&cli.StringFlag{Name: "durability", Value: "interval", Usage: "when replays are synced to the disk: none, interval (each second) or frame (before a tick is sent)"},
			&cli.BoolFlag{Name: "resume", Usage: "continue the matches in --dir that an interrupt or a crash has stopped; their players need the same --tokens or --jwt-key"},
			&cli.DurationFlag{Name: "await-players", Value: 10 * time.Second, Usage: "after --resume a match waits at most `TIME` for the players who were connected"},
			&cli.DurationFlag{Name: "drain", Usage: "when interrupted, begin no match and let the running ones end, for at most `TIME`, before the rest is suspended; a second interrupt suspends at once"},
			&cli.StringFlag{Name: "archive", Usage: "move sealed replays and desync bundles to `PLACE`, a folder or s3://BUCKET/PREFIX, where they can be searched"},
			&cli.UintFlag{Name: "keep-days", Usage: "delete matches from the archive `N` days after their end; 0: never"},
			&cli.UintFlag{Name: "keep-replays", Usage: "keep the latest `N` replays in the archive; 0: all"},
			&cli.Uint64Flag{Name: "keep-bytes", Usage: "keep at most `N` bytes of replays in the archive, the latest; 0: no limit"},
			&cli.UintFlag{Name: "keep-bundles", Usage: "keep the latest `N` desync bundles in the archive; 0: all"},
			&cli.Uint64Flag{Name: "keep-bundles-bytes", Usage: "keep at most `N` bytes of desync bundles and their pages in the archive, the latest; 0: no limit", DefaultText: "as --keep-bytes"},
			&cli.StringFlag{Name: "sign-key", Usage: "sign sealed replays with the private key in `FILE` (PEM, PKCS #8); replay verify --key checks them"},
			&cli.BoolFlag{Name: "keep-open", Usage: "do not compress the replays of matches that are over"},
			&cli.DurationFlag{Name: "spectator-delay", Usage: "show the match to spectators `TIME` later than to players"},
			&cli.UintFlag{Name: "guests", Usage: "let anybody take a free seat, and create up to `N` matches at a time; 0: no guests"},
			&cli.UintFlag{Name: "guest-matches-per-address", Value: 2, Usage: "matches at a time that guests of one address may create"},
			&cli.UintFlag{Name: "guest-bots", Value: 32, Usage: "bots in all matches of guests together; 0: none"},
			&cli.Uint64Flag{Name: "guest-state", Value: 4 << 20, Usage: "bytes of state of all matches of guests together"},
			&cli.Uint64Flag{Name: "guest-disk", Value: 1 << 30, Usage: "bytes of the replays of guests' matches in a day; then guests create no more"},
			&cli.Uint64Flag{Name: "match-disk", Value: 4 << 30, Usage: "bytes of a match's replay, and again of its desync bundles; the match ends when its replay reaches them; 0: no limit"},
			&cli.Uint64Flag{Name: "disk-reserve", Value: 64 << 20, Usage: "free bytes of the disk below which /readyz fails and no match is created over HTTP; 0: none"},
			&cli.UintFlag{Name: "bots", Usage: "give the last `N` seats of each match to bots"},
			botFlag,
			&cli.StringFlag{Name: "start", Value: defaultStart, Usage: "when a match begins: now, N as soon as N players are there, ready as soon as each seat has a player and all are ready, or ready:N as soon as at least N are there and all of them are ready; an admin begins it at any time"},
			&cli.DurationFlag{Name: "countdown", Value: defaultCountdown, Usage: "with --start ready: `TIME` from when all players are ready to the first tick"},
			&cli.DurationFlag{Name: "ready-deadline", Value: defaultReadyDeadline, Usage: "with --start ready: how long some players can keep the others in the lobby while at least half of those who are there are ready: `TIME` in all, and a fifth of it for one player; then the match begins; 0: for ever"},
			&cli.DurationFlag{Name: "grace", Value: 30 * time.Second, Usage: "take the seat of a player who is lost and does not come back in `TIME` over"},
			&cli.DurationFlag{Name: "abandoned", Value: defaultAbandoned, Usage: "end a match that all its players have left for good for `TIME`; 0: never"},
			&cli.DurationFlag{Name: "linger", Value: 15 * time.Second, Usage: "when the rules have ended a match, give players who are away `TIME` to come back and see its end"},
			&cli.BoolFlag{Name: "substitutes", Usage: "let a bot play for each player whose seat is taken over, until the player is back"},
			&cli.DurationFlag{Name: "inactive", Value: 5 * time.Minute, Usage: "report a player who gives no command for `TIME` of the match; 0: never"},
			&cli.StringFlag{Name: "inactive-then", Value: "report", Usage: "what to do then besides: report for nothing, takeover to end the connection and take the seat over, or remove to give it up; for both the player is warned 30 s before"},
			&cli.DurationFlag{Name: "guest-inactive", Value: 2 * time.Minute, Usage: "remove a guest who gives no command for `TIME` of the match; 0: guests are as others"},
			&cli.UintFlag{Name: "guest-seats", Usage: "seats of a match that guests of one address who have never played keep when others want to play; 0: half of the seats for people, at least 2"},
			&cli.BoolFlag{Name: "anonymous-spectators", Usage: "let anybody watch"},
			&cli.BoolFlag{Name: "relay", Usage: "order commands without simulating them, which is cheap, but gives no referee"},
			&cli.StringFlag{Name: "input-delay", Value: "2", Usage: "ticks from a command's arrival to its effect, or auto: as many as the players' connections need"},
			&cli.DurationFlag{Name: "wait", Usage: "let the match wait for slow players, at most `TIME` per minute and player; 0: never"},
			&cli.UintFlag{Name: "slow", Usage: "slow the match down for machines that cannot keep up, at most to `PERCENT`; 0: never"},
			&cli.DurationFlag{Name: "share", Value: 6 * time.Second, Usage: "time that one player may cost the match by --wait, --slow and --input-delay auto: `TIME` at once, and as much in each minute; twice that for all players together"},
			&cli.BoolFlag{Name: "vote-kick", Usage: "let players vote out a player that has used up its --share, or for which a lobby waits, if more than half of the others write /kick and its seat or name in the chat"},
			&cli.StringFlag{Name: "players-see", Value: "all", Usage: "what clients are sent: all, which is the whole match, or views, which is what the rules show them (docs/feed.md)"},
			&cli.UintFlag{Name: "view-bytes", Usage: "send a viewer about `N` bytes a second, and the rest later", DefaultText: "no limit"},
			&cli.StringFlag{Name: "desync", Value: "resync", Usage: "what to do with a player whose checksum differs: log, resync or remove"},
			&cli.BoolFlag{Name: "explain", Usage: "explain each desync in the log, and as a page next to its bundle; costs seconds of CPU time"},
			&cli.StringSliceFlag{Name: "origin", Usage: "accept browsers with a page from `HOST`, besides this server's"},
			&cli.StringSliceFlag{Name: "allowed-host", Usage: "accept `NAME` in the Host header of requests, besides the host of --listen, localhost and the address of the connection; servers behind a proxy need this"},
			&cli.StringSliceFlag{Name: "trusted-proxy", Usage: "`ADDRESS` or network, such as 10.0.0.0/8, of proxies in front of this server, which name their client; without it all clients of a proxy share its limits; unix: those that connect over a unix socket"},
			&cli.StringFlag{Name: "proxy-header", Value: "X-Forwarded-For", Usage: "the header in which trusted proxies name the client: X-Forwarded-For or Forwarded"},
			&cli.BoolFlag{Name: "proxy-protocol", Usage: "each connection of a trusted proxy begins with a header of the PROXY protocol, which names the client"},
			&cli.UintFlag{Name: "max-per-address", Value: 64, Usage: "connections of one address, and the number that it may open in a second"},
			&cli.UintFlag{Name: "max-unauthenticated", Value: 8, Usage: "connections of one address without a token yet; a new one closes the oldest"},
			&cli.UintFlag{Name: "max-requests", Value: 50, Usage: "lists, matches and metrics that one address may read in a second"},
			&cli.UintFlag{Name: "max-wrong-tokens", Value: 20, Usage: "wrong tokens of one address in a minute; valid ones always pass"},
			&cli.UintFlag{Name: "max-matches", Value: 1000, Usage: "matches at a time, of everybody together"},
			&cli.UintFlag{Name: "max-spectators", Value: 64, Usage: "spectators of a match"},
			&cli.DurationFlag{Name: "idle", Value: 5 * time.Minute, Usage: "end a match without connections for `TIME`; 0: never"},
			&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` with a certificate"},
			&cli.StringFlag{Name: "tls-key", Usage: "`FILE` with its key"},
			&cli.StringFlag{Name: "admin-listen", Usage: "serve the calls of admins, /metrics and Go's profiles on `ADDRESS`, and refuse them at --listen; it has no TLS and no --base-path"},
			&cli.StringFlag{Name: "pprof", Usage: "serve Go's profiles on `ADDRESS`, for operators only"},
		}, slices.Concat(datagramFlags(), logFlags, tokenFlags, compatFlags)...)),
		Action: serve,
	}
}

func serve(c *cli.Context) error {
	if c.String(writeSettingsFlag.Name) != "" {
		return writeSettings(c)
	}
	modules := len(c.StringSlice(rulesFlag.Name))
	settings := newSettingsFile(c)
	if err := readSettings(c); err != nil {
		return err
	}
	if len(c.StringSlice(rulesFlag.Name)) != modules { // the settings name them
		if err := prepareGames(c); err != nil {
			return err
		}
	}
	if err := checkExtension(c); err != nil {
		return err
	}
	if c.Bool("check-config") {
		return checkServeConfig(c)
	}
	begin, err := newStart(c)
	if err != nil {
		return err
	}
	games, specs, policy := begin.games, begin.specs, begin.policy
	stopped, err := findInterrupted(c, games, policy)
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40) // the states of matches live long, so collecting more often costs little; see docs/operations.md
	}
	ctx, stop := untilSignal(c.Context) // from now on an interrupt suspends
	defer stop()
	bound, err := bind(c)
	if err != nil {
		return err
	}
	defer bound.Close()
	admins, profiles, err := bindOperators(c)
	if err != nil {
		return err
	}
	all := stopped.with(specs)
	o, files, err := serverOptions(c, games, all, policy)
	if err != nil {
		return err
	}
	files = append(files, bound.files...)
	if settings != nil {
		files = append(files, settings.reloadable(len(all)))
	}
	files.measure(&o)
	warnInterrupted(c, o.Log)
	kept, err := addArchive(c, &o)
	if err != nil {
		return err
	}
	defer closeArchive(kept)
	beside, err := extend(c, bound.url(), games, policy, &o)
	if err != nil {
		return err
	}
	defer closeServing(beside)
	s, err := server.New(o)
	if err != nil {
		return err
	}
	beside.Serve(s)
	policy.openReplay = s.OpenReplay
	addCompat(c, begin.game, s, &o)
	stopDatagrams, err := serveDatagrams(s, bound, datagramAddress(c), c.String("datagrams-public"), o.Log)
	if err != nil {
		return err
	}
	defer stopDatagrams()
	l := bound.under(s)
	public := http.Handler(s)
	if admins != nil {
		public = s.Public()
		serveOperators(admins, s, true, o.Log)
	}
	if profiles != nil {
		serveOperators(profiles, s, false, o.Log)
	}
	for i := 0; i < len(specs) && err == nil; i++ {
		if !stopped.taken[specs[i].Name] {
			if _, err = s.Create(specs[i]); o.Replicator != nil && errors.Is(err, server.ErrExists) { // last, since it begins a replay
				err = nil // another server of the cluster has begun it
			}
		}
	}
	if kept != nil && err == nil {
		err = kept.Adopt(o.Dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "listening on %s\n", bound.url())
	stopped.start(c, s, o.Log, specs)
	public = beside.Handler(public)
	if c.Bool("web") {
		public = aroundPage(begin.game.pageOver(c, public, o.Log), public)
	}
	defer files.watch(s, o.Log, reloadEvery)()
	notifySystemd(daemon.SdNotifyReady, o.Log)
	defer keepWatchdogFed(o.Log)()
	untellAgones, err := tellAgones(s, o.Log)
	if err != nil {
		return err
	}
	defer untellAgones() // when the matches are suspended
	return serveUntilInterrupted(ctx, stop, s, beside, underPath(bound.path, public), l, c.Duration("drain"), o.Log)
}

// untilSignal returns a context that ends at an interrupt. After stop an interrupt ends the program.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// serveUntilInterrupted serves until ctx ends, which is of untilSignal, with its stop.
func serveUntilInterrupted(ctx context.Context, stop func(), s *server.Server, beside Serving, handler http.Handler, l net.Listener, drain time.Duration, log *slog.Logger) error {
	h := server.HTTPServer("", handler)
	h.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	var failure error
	select {
	case failure = <-failed: // the matches are suspended all the same
	case <-ctx.Done():
	}
	if drain > 0 && failure == nil {
		drainUntilInterrupted(s, drain, log)
	}
	stop() // another interrupt ends the program
	log.Warn("shutting down")
	notifySystemd(daemon.SdNotifyStopping, log)
	leaving, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	beside.Leave(leaving)
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(failure, s.Shutdown(ctx), h.Shutdown(ctx))
}

// drainUntilInterrupted waits until all matches are over, for a time, or until a further interrupt.
func drainUntilInterrupted(s *server.Server, limit time.Duration, log *slog.Logger) {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	log.Warn("draining", "matches", len(s.Matches()), "longest", limit)
	if s.Drain(ctx) == nil {
		log.Warn("drained")
	}
}

// bindOperators opens the listeners of --admin-listen and --pprof before anything is printed or written; nil without the flag.
func bindOperators(c *cli.Context) (admins, profiles net.Listener, err error) {
	if addr := c.String("admin-listen"); addr != "" {
		if admins, err = listenOn(addr); err != nil {
			return nil, nil, err
		}
	}
	if addr := c.String("pprof"); addr != "" {
		if profiles, err = listenOn(addr); err != nil && admins != nil {
			err = errors.Join(err, admins.Close())
		}
	}
	return admins, profiles, err
}

// serveOperators serves Go's profiles on a listener, and for admins all of the server. The server checks the host of each request.
func serveOperators(l net.Listener, s *server.Server, admins bool, log *slog.Logger) {
	addr := l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	handler := s.Guard(mux)
	if admins {
		all := http.NewServeMux()
		all.Handle("/debug/pprof/", handler)
		all.Handle("/", s.Private())
		handler, l = all, s.Listener(l)
		log.Info("listening for admins", "address", l.Addr().String())
	}
	h := server.HTTPServer("", handler)
	h.WriteTimeout = 0 // a profile takes as long as it was asked to
	go func() { log.Error("operators", "address", addr, "err", h.Serve(l)) }()
}
