package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

func replayWatchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "show how a match goes, while it goes: of a file, or on a server",
		ArgsUsage: "FILE|ADDRESS",
		Description: `Watches the file of a match, the matches of a server (http://127.0.0.1:8766), or one
of them (http://127.0.0.1:8766/matches/match-1). On a terminal it shows a table with
sparklines until q is pressed; elsewhere it prints a line each interval, until the
match is over. Nothing is simulated, and no token is needed.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON each interval, for programs"},
			&cli.BoolFlag{Name: "plain", Usage: "print lines also on a terminal"},
			&cli.BoolFlag{Name: "once", Usage: "print one line and exit"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "look each `TIME`, 100ms or more"},
			delayFlag,
		},
		Action: func(c *cli.Context) error {
			if c.Duration("interval") < 100*time.Millisecond {
				return usagef("--interval: got %v, want at least 100ms", c.Duration("interval"))
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			s, err := openSight(ctx, c, c.Args().First())
			if err != nil {
				return err
			}
			defer s.close()
			if isTerminal(c.App.Writer) && !c.Bool("plain") && !c.Bool("json") && !c.Bool("once") {
				return watchScreen(ctx, c, s)
			}
			return watchLines(ctx, c, s)
		},
	}
}

// A sight is what can be watched.
type sight interface {
	// look returns how things are now. An error says that nothing is to be seen any
	// more, unless it is a passing one; see errUnseen.
	look(ctx context.Context) (*watchReport, error)
	close()
}

// errUnseen is wrapped by the errors of a look that may succeed the next time.
var errUnseen = errors.New("not to be seen at the moment")

// openSight opens a file or an address.
func openSight(ctx context.Context, c *cli.Context, name string) (sight, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return newServerSight(name)
	}
	o, err := liveOptions(c)
	if err != nil {
		return nil, err
	}
	return newFileSight(ctx, name, o)
}

// watchLines prints a line each interval.
func watchLines(ctx context.Context, c *cli.Context, s sight) error {
	every := time.NewTicker(c.Duration("interval"))
	defer every.Stop()
	for seen := false; ; seen = true {
		r, err := s.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // an interrupt is how one stops watching
		case err != nil && (!seen || c.Bool("once") || !errors.Is(err, errUnseen)):
			return err
		case err != nil:
			fmt.Fprintf(c.App.ErrWriter, "samestep: %v\n", err)
		case c.Bool("json"):
			if err := writeLine(c.App.Writer, r.values); err != nil {
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
