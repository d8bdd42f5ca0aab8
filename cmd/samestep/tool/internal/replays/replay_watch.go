//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/urfave/cli/v2"
)

func replayWatchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "show the progress of a live match, from its file or its server",
		ArgsUsage: "FILE|ADDRESS",
		Description: `Watches the file of a match, the matches of a server (http://127.0.0.1:8766), or one
of them (http://127.0.0.1:8766/matches/match-1). On a terminal it shows a table with
sparklines until you press q; elsewhere it prints a line at each interval until the
match is over. It simulates nothing. A server tells commands, reports and what it
rejects of a running match only to an admin (--token-file, or ` + console.TokenEnv + `).`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON at each interval, for programs"},
			&cli.BoolFlag{Name: "plain", Usage: "print lines even on a terminal"},
			&cli.BoolFlag{Name: "once", Usage: "print one line and exit"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "update every `TIME`, at least 100ms"},
			&cli.StringFlag{Name: "token", Usage: "authorizes you at a server", EnvVars: []string{console.TokenEnv}},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token"},
			delayFlag,
		},
		Action: func(c *cli.Context) error {
			if err := console.Between(c, "interval", 100*time.Millisecond, 0); err != nil {
				return err
			}
			ctx, stop := console.Interruptible(c)
			defer stop()
			s, err := openSource(ctx, c, c.Args().First())
			if err != nil {
				return err
			}
			defer s.Close()
			if console.IsTerminal(c.App.Writer) && !c.Bool("plain") && !c.Bool("json") && !c.Bool("once") {
				return watchScreen(ctx, c, s)
			}
			return watchLines(ctx, c, s)
		},
	}
}

// A source is a file or a server to watch.
type source interface {
	// look returns the present state. An error ends the watching, unless it wraps errUnseen.
	Look(ctx context.Context) (*watchReport, error)
	Close()
}

// errUnseen is wrapped by errors of a look that may succeed the next time.
var errUnseen = errors.New("not visible at the moment")

// openSource opens a file or a URL.
func openSource(ctx context.Context, c *cli.Context, name string) (source, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		token, err := console.ClientToken(c)
		if err != nil {
			return nil, err
		}
		return NewServerSource(name, token)
	}
	o, err := liveOptions(c)
	if err != nil {
		return nil, err
	}
	return newFileSource(ctx, name, o)
}

func watchLines(ctx context.Context, c *cli.Context, s source) error {
	every := time.NewTicker(c.Duration("interval"))
	defer every.Stop()
	for seen := false; ; seen = true {
		r, err := s.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // an interrupt is the usual way to stop
		case err != nil && (!seen || c.Bool("once") || !errors.Is(err, errUnseen)):
			return err
		case err != nil:
			fmt.Fprintf(c.App.ErrWriter, "%s: %v\n", c.App.Name, err)
		case c.Bool("json"):
			if err := console.WriteLine(c.App.Writer, r.values); err != nil {
				return err
			}
		default:
			if _, err := fmt.Fprintln(c.App.Writer, r.line); err != nil {
				return err
			}
		}
		if c.Bool("once") || err == nil && r.over {
			return nil
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}
