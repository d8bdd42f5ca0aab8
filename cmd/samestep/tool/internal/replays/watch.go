//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/internal/words"
)

func replayWatchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "show the progress of a live match, from its file or its server",
		ArgsUsage: "FILE|ADDRESS",
		Description: `Watches the file of a match, the matches of a server (http://127.0.0.1:8766), or one
of them (http://127.0.0.1:8766/matches/match-1). On a terminal it shows a table with
sparklines until you press q; elsewhere it prints a line at each interval until the
match is over, or suspended at the end of its file. It simulates nothing. A server tells
commands, reports and what it rejects of a running match only to an admin (--token, or
` + console.TokenEnv + `).`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON at each interval, for programs"},
			&cli.BoolFlag{Name: "plain", Usage: "print lines even on a terminal"},
			&cli.BoolFlag{Name: "once", Usage: "print one line and exit"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "update every `TIME`, at least 100ms"},
			console.TokenFlag(),
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
			screen := console.IsTerminal(c.App.Writer) && !c.Bool("plain") && !c.Bool("json") && !c.Bool("once")
			if screen && parts.Screen == nil {
				return parts.Missing("a screen (--plain prints lines)", "watch")
			}
			if screen {
				out := c.App.Writer.(*words.Cleaner).Unwrap() // the screen moves the cursor; the texts are clean already
				last, err := parts.Screen(ctx, parts.Watching{Program: c.App.Name, Look: s.look, Every: c.Duration("interval"), Out: out})
				if last != nil {
					fmt.Fprintln(c.App.Writer, last.Line)
				}
				return err
			}
			return watchLines(ctx, c, s)
		},
	}
}

func openSource(ctx context.Context, c *cli.Context, name string) (source, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		token, err := console.ClientToken(c)
		if err != nil {
			return nil, err
		}
		return newServerSource(name, token)
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
		r, err := s.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // an interrupt is the usual way to stop
		case err != nil && (!seen || c.Bool("once") || !errors.Is(err, parts.ErrUnseen)):
			return err
		case err != nil:
			fmt.Fprintf(c.App.ErrWriter, "%s: %v\n", c.App.Name, err)
		case c.Bool("json"):
			if err := console.WriteLine(c.App.Writer, r.Values); err != nil {
				return err
			}
		default:
			if _, err := fmt.Fprintln(c.App.Writer, r.Line); err != nil {
				return err
			}
		}
		if c.Bool("once") || err == nil && (r.Over || r.Rests) {
			return nil
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}
