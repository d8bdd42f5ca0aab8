//go:build !js

// Package serving has the verb serve, and the pages that it serves.
package serving

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

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/agones"
)

// ServeCommand returns the verb serve.
func ServeCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "host live matches",
		Description: `Hosts matches over WebSockets until it is interrupted. Then it suspends them, tells the
clients when to reconnect, and exits. The next start with --resume continues these
matches, and those that a crash interrupted. A match ends only by its rules, by an admin,
or by the settings abandoned and idle.

Common settings are flags. All settings, these included, are keys of the file of
--settings, which --print-settings documents; --set sets one.

A client's rights come from its token. Tokens are listed in a file (--tokens) or in the
environment (` + console.TokensEnv + `), one line "ROLE SEAT NAME MATCH TOKEN" for each, where a
dash stands for any seat or every match; or they are signed (jwt-key).
The SEAT of a spectator can be player:N, team:N or role:NAME: like a coach, it gets the
views of that player, team or role, and nothing else.
Without either, the server generates a token for each seat of each match, writes them to
tokens.txt in --dir, readable only by its user, and prints them on a terminal. They stay
valid with --resume. With --guests anybody may play, without a token.

A player joins with: samestep join http://127.0.0.1:8766/matches/match-1 --token TOKEN
or in a browser, at the address that is printed. In a checkout, the page's
WebAssembly is built once, with the Go toolchain, into the user's cache directory.
Release builds embed it. --set web=false works without both.

In an Agones pod, which sets ` + agones.PortVariable + `, it reports to the sidecar that it
is alive, ready, in use, and shut down.`,
		Flags:  ServeFlags(Extension{}),
		Action: serve,
	}
}

func serve(c *cli.Context) error {
	if c.String(console.WriteSettingsFlag.Name) != "" {
		return writeSettings(c)
	}
	if c.Bool(console.PrintSettingsFlag.Name) {
		return console.PrintSettings(c)
	}
	if err := checkExtension(c); err != nil {
		return err
	}
	if c.Bool(checkConfigFlag.Name) {
		err := checkServeConfig(c)
		if err == nil {
			fmt.Fprintln(c.App.Writer, "ok")
		}
		return err
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
	ctx, stop := UntilSignal(c.Context) // from now on an interrupt suspends
	defer stop()
	bound, err := newBinding(c)
	if err != nil {
		return err
	}
	if bound.Listener, err = listenOn(c.String("listen")); err != nil {
		return err
	}
	defer bound.Close()
	var admins net.Listener
	if addr := c.String("admin-listen"); addr != "" { // before anything is printed or written
		if admins, err = listenOn(addr); err != nil {
			return err
		}
	}
	all := stopped.with(specs)
	o, files, err := serverOptions(c, games, all, policy)
	if err != nil {
		return err
	}
	files = append(files, bound.files...)
	if settings, _ := c.App.Metadata[settingsKey].(*settingsFile); settings != nil {
		files = append(files, settings.reloadable(len(all)))
	}
	files.measure(&o)
	warnInterrupted(c, o.Log)
	kept, err := addArchive(c, &o)
	if err != nil {
		return err
	}
	if kept != nil {
		defer func() { // what is left is archived after the next start
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			kept.Flush(ctx)
			endWithin(2*time.Second, kept.Close)
		}()
	}
	beside, err := extend(c, bound.url(), games, policy, &o)
	if err != nil {
		return err
	}
	if beside != nil {
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			beside.Close(ctx)
		}()
	}
	s, err := server.New(o)
	if err != nil {
		return err
	}
	if beside != nil {
		beside.Serve(s)
	}
	policy.openReplay = s.OpenReplay
	if c.IsSet("player-tokens") {
		o.Log.Warn("player-tokens: every user of this machine can take a seat with a short token", "seats", len(playerTokens(c)))
	}
	if c.Bool("compat") {
		bridge, err := begin.game.Compat.Handler(s, gameset.CompatOptions{
			Match: "match-1", Strangers: !c.IsSet("player-tokens"), Origins: o.Origins, MaxPerAddress: o.MaxPerAddress, Log: o.Log,
		})
		if err != nil {
			return err
		}
		s.HandleOtherSockets(bridge)
	}
	stopDatagrams, err := serveDatagrams(s, bound, datagramAddress(c), c.String("datagrams-public"), o.Log)
	if err != nil {
		return err
	}
	defer stopDatagrams()
	l := bound.under(s)
	public := http.Handler(s)
	if admins != nil {
		public = s.Public()
		serveAdmins(admins, s, o.Log)
	}
	for i := 0; i < len(specs) && err == nil; i++ {
		if !stopped.taken[specs[i].Name] {
			if _, err = s.Create(specs[i]); o.Replicator != nil && errors.Is(err, server.ErrExists) { // last, since it begins a replay
				err = nil // another server of the cluster has begun it
			}
			err = refusedByGame(c, err)
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
	if beside != nil {
		public = beside.Handler(public)
	}
	if c.Bool("web") {
		page, behind := PageOver(begin.game, c, public, o.Log), public
		public = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if server.IsOtherSocket(r) { // at any path
				behind.ServeHTTP(w, r)
			} else {
				page.ServeHTTP(w, r)
			}
		})
	}
	defer files.watch(s, o.Log, 5*time.Second)()
	notifySystemd(daemon.SdNotifyReady, o.Log)
	defer keepWatchdogFed(o.Log)()
	untellAgones, err := tellAgones(s, o.Log)
	if err != nil {
		return err
	}
	defer untellAgones() // when the matches are suspended
	return ServeUntilInterrupted(ctx, stop, s, beside, underPath(bound.path, public), l, c.Duration("drain"), o.Log)
}

// UntilSignal returns a context that ends at an interrupt. After stop an interrupt ends the program.
func UntilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// ServeUntilInterrupted serves until ctx ends, which is of UntilSignal, with its stop. beside may be nil.
func ServeUntilInterrupted(ctx context.Context, stop func(), s *server.Server, beside Serving, handler http.Handler, l net.Listener, drain time.Duration, log *slog.Logger) error {
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
		ctx, stop := UntilSignal(context.Background())
		ctx, cancel := context.WithTimeout(ctx, drain)
		log.Warn("draining", "matches", len(s.Matches()), "longest", drain)
		if s.Drain(ctx) == nil {
			log.Warn("drained")
		}
		cancel()
		stop()
	}
	stop() // another interrupt ends the program
	log.Warn("shutting down")
	notifySystemd(daemon.SdNotifyStopping, log)
	leaving, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if beside != nil {
		beside.Leave(leaving)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(failure, s.Shutdown(ctx), h.Shutdown(ctx))
}

// serveAdmins serves all of the server on a listener, and Go's profiles. The server checks the host of each request.
func serveAdmins(l net.Listener, s *server.Server, log *slog.Logger) {
	addr := l.Addr().String()
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	all := http.NewServeMux()
	all.Handle("/debug/pprof/", s.Guard(profiles))
	all.Handle("/", s.Private())
	l = s.Listener(l)
	log.Info("listening for admins", "address", l.Addr().String())
	h := server.HTTPServer("", all)
	h.WriteTimeout = 0 // a profile takes as long as it was asked to
	go func() { log.Error("operators", "address", addr, "err", h.Serve(l)) }()
}

// notifySystemd tells systemd the state of the server, if systemd has started it with Type=notify.
func notifySystemd(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd not notified", "state", state, "err", err)
	}
}

// keepWatchdogFed notifies systemd's watchdog twice in each WatchdogSec until stop is called. It does nothing without a watchdog.
func keepWatchdogFed(log *slog.Logger) (stop func()) {
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("systemd watchdog not used", "err", err)
	}
	if period <= 0 {
		return func() {}
	}
	tick, done := time.NewTicker(period/2), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				notifySystemd(daemon.SdNotifyWatchdog, log)
			case <-done:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
	}
}

// tellAgones tells the sidecar of Agones how the server is, until stop is called. It does nothing outside of Agones.
func tellAgones(s *server.Server, log *slog.Logger) (stop func(), err error) {
	port, ok := os.LookupEnv(agones.PortVariable)
	if !ok {
		return func() {}, nil
	}
	var matches played
	sidecar, err := agones.Start(agones.Options{
		Port: port, Log: log,
		Ready: func() bool { return len(s.NotReady()) == 0 },
		Used:  func() bool { return matches.look(s) },
	})
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := sidecar.Shutdown(ctx); err != nil {
			log.Error("Agones not notified of the shutdown", "err", err)
		}
	}, nil
}

// played has the matches that are not over and that a person has joined. Each look at the server replaces it.
type played map[*server.Match]bool

func (p *played) look(s *server.Server) (any bool) {
	now := make(played)
	for _, m := range s.Matches() {
		if v := m.Status(); v.Ended == "" && ((*p)[m] || slices.ContainsFunc(v.Players, func(p server.PlayerStatus) bool { return p.State != "bot" })) {
			now[m] = true
		}
	}
	*p = now
	return len(now) > 0
}
