//go:build !js

package clustertool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

func mirrorCommand() *cli.Command {
	return &cli.Command{
		Name:  "mirror",
		Usage: "serve the spectators of matches that run elsewhere",
		Description: `Follows each match that somebody watches here, and serves it at /matches/NAME/play as
the match's own server does, so that "samestep join" and the page can watch it. Matches
come from the replicated logs of a cluster (--nats), or from a server or another mirror
(--upstream). A mirror needs no game.`,
		Flags: append(tool.FromEnvironment(append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8767", Usage: "`ADDRESS` for spectators"},
			&cli.StringFlag{Name: "upstream", Usage: "`URL` of a server or of another mirror, such as http://game.example, or with /matches/NAME for one match only"},
			&cli.StringFlag{Name: "upstream-token", Usage: "`TOKEN` of a spectator there, or @FILE with it; not needed where anybody may watch"},
			&cli.DurationFlag{Name: "delay", Usage: "show spectators the match `TIME` later, in addition to the source's own delay"},
			&cli.DurationFlag{Name: "batch", Value: 100 * time.Millisecond, Usage: "send to a spectator at most once per `TIME`; a longer one costs less CPU time"},
			&cli.StringFlag{Name: "tokens", Usage: "`FILE` with the tokens of clients that may watch, as for serve; without it anybody may"},
			&cli.UintFlag{Name: "max-spectators", Value: 10_000, Usage: "spectators per match"},
			&cli.UintFlag{Name: "max-per-address", Value: 64, Usage: "spectators per address"},
			&cli.UintFlag{Name: "max-matches", Value: 100, Usage: "matches followed at a time"},
			&cli.DurationFlag{Name: "idle", Value: time.Minute, Usage: "stop following a match that has had no spectators for `TIME`"},
			&cli.StringSliceFlag{Name: "origin", Usage: "`HOST` whose pages may connect from a browser; repeat the flag for each"},
			&cli.StringSliceFlag{Name: "allowed-host", Usage: "`NAME` of this mirror, besides its addresses; repeat the flag for each"},
			tool.SettingsFlag(),
		}, tool.LogFlags()...)), connectionFlags("")...),
		Action: func(c *cli.Context) error {
			ctx, stop := tool.Interruptible(c)
			defer stop()
			o, closeSource, err := mirrorOptions(ctx, c)
			if err != nil {
				return err
			}
			defer closeSource()
			return serveMirror(ctx, c, o)
		},
	}
}

func mirrorOptions(ctx context.Context, c *cli.Context) (o mirror.Options, closeSource func(), err error) {
	closeSource = func() {}
	if c.IsSet("upstream") == c.IsSet("nats") {
		return o, closeSource, tool.Usagef("want either --upstream or --nats")
	}
	for _, name := range []string{"delay", "batch"} {
		if d := c.Duration(name); d < 0 {
			return o, closeSource, tool.Wrongf(c, name, "got %v, want at least 0s", d)
		}
	}
	for _, name := range c.StringSlice("allowed-host") {
		if err := server.CheckHost(name); err != nil {
			return o, closeSource, tool.Wrongf(c, "allowed-host", "%v", err)
		}
	}
	if err := tool.CheckAddress(c, "listen"); err != nil {
		return o, closeSource, err
	}
	log, err := tool.NewLog(c)
	if err != nil {
		return o, closeSource, err
	}
	o = mirror.Options{
		Log: log, MaxMatches: int(c.Uint("max-matches")), Idle: c.Duration("idle"), MaxConnections: int(c.Uint("max-spectators")) * 2,
		Audience: audience.Options{
			DelayTime: lockstep.Time(c.Duration("delay").Microseconds()), Batch: lockstep.Time(c.Duration("batch").Microseconds()), MaxSpectators: int(c.Uint("max-spectators")),
		},
		Front: server.Options{Limits: server.Limits{MaxPerAddress: int(c.Uint("max-per-address"))}, Origins: c.StringSlice("origin"), AllowedHosts: c.StringSlice("allowed-host")},
	}
	if path := c.String("tokens"); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return o, closeSource, err
		}
		defer f.Close()
		if o.Front.Authorizer, err = server.ReadTokens(f); err != nil {
			return o, closeSource, fmt.Errorf("--tokens: %w", err)
		}
	}
	if c.IsSet("upstream") {
		token, err := tool.TokenIn(c, "upstream-token")
		if err != nil {
			return o, closeSource, err
		}
		upstream := mirror.Upstream{URL: c.String("upstream"), Token: token}
		if err := upstream.Check(); err != nil {
			return o, closeSource, tool.Wrongf(c, "upstream", "%v", err)
		}
		o.Source = upstream
		return o, closeSource, nil
	}
	starting, refused, started := refusal(ctx, storage.MirrorRole, log)
	defer started()
	t, err := tlsConfig(c)
	if err != nil {
		return o, closeSource, err
	}
	measureCertificate(t, &o.Front)
	conn, err := dialWith(c, c.String("nats"), storage.DialOptions{Role: storage.MirrorRole, Log: log, TLS: t, Refused: refused})
	if err != nil {
		return o, closeSource, err
	}
	learning, cancel := context.WithTimeout(starting, setupTime)
	defer cancel()
	if err := conn.Learn(learning); err != nil {
		conn.Close()
		return o, closeSource, cmp.Or(refusedIn(starting), err)
	}
	o.Source = mirror.Cluster{Conn: conn}
	return o, conn.Close, nil
}

func serveMirror(ctx context.Context, c *cli.Context, o mirror.Options) error {
	r, err := mirror.New(o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "mirror at http://%s/\n", l.Addr())
	web := server.HTTPServer("", r)
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(r.Listener(l)) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // for the spectators
	defer cancel()
	return errors.Join(err, r.Shutdown(stopping), web.Shutdown(stopping))
}
