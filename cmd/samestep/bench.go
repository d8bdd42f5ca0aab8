package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/testing/fixedbench"
)

func benchCommand() *cli.Command {
	flags := []cli.Flag{jsonFlag, &cli.DurationFlag{
		Name: "time", Value: 2 * time.Second, Usage: "how long to measure each figure",
	}}
	return &cli.Command{
		Name:  "bench",
		Usage: "measure on this machine what the engine costs",
		Description: `Figures are ratios of two things that take turns within one run, in time of
the processor; so they hold on a busy machine, too, if it is measured longer.`,
		OnUsageError: usageError,
		Subcommands: []*cli.Command{
			{
				Name:  "log",
				Usage: "a match of the example game, beside the same game without the engine",
				Description: `The tax is what a player's machine does beside the game: decoding the log, a
checksum every tick, comparing it, and writing the replay. The long match is
played by bots, and kept in your cache directory for the next time.`,
				Flags:        append(flags[:len(flags):len(flags)], minutesFlag),
				OnUsageError: usageError, Action: benchAction(benchLog),
			},
			{
				Name:  "fixed",
				Usage: "fixed-point arithmetic, beside floating point",
				Flags: flags, OnUsageError: usageError, Action: benchAction(benchFixed),
			},
			benchNetCommand(),
		},
		Action: showSubcommands,
	}
}

// A benchLine is one measured figure.
type benchLine struct {
	Name   string  `json:"name"`
	Beside string  `json:"beside,omitempty"` // what Value is a ratio to
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Limit  string  `json:"limit,omitempty"` // that Value should keep
}

func (l benchLine) print(w io.Writer) error {
	line := fmt.Sprintf("%-28s %8.2f %-10s  %-8s", l.Name, l.Value, l.Unit, l.Limit)
	if l.Beside != "" {
		line += "  beside " + l.Beside
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// benchAction makes the action of a benchmark, which gives its lines to show.
func benchAction(bench func(c *cli.Context, show func(benchLine) error) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		d := c.Duration("time")
		if c.Args().Present() {
			return usagef("bench %s: unexpected argument %q", c.Command.Name, c.Args().First())
		}
		if d < 0 || d > time.Hour {
			return usagef("bench %s: --time: got %s, want 0s to 1h", c.Command.Name, d)
		}
		var lines []benchLine
		err := bench(c, func(l benchLine) error {
			lines = append(lines, l)
			if c.Bool("json") {
				return nil
			}
			return l.print(c.App.Writer)
		})
		if err == nil && c.Bool("json") {
			err = writeJSON(c.App.Writer, lines)
		}
		return err
	}
}

// benchFixed shares the time among the rounds of a pair; a round is n operations.
func benchFixed(c *cli.Context, show func(benchLine) error) error {
	const n = 40_000
	for _, p := range fixedbench.Pairs {
		once := p.Measure(1, n)
		round := time.Duration((once.FixedNS + once.FloatNS) * n)
		r := p.Measure(1+int(c.Duration("time")/max(round, 1)), n)
		line := benchLine{Name: p.Name, Value: r.Ratio(), Unit: "x", Beside: fmt.Sprintf("float64: %.2f ns, fixed: %.2f ns", r.FloatNS, r.FixedNS)}
		if limit := p.Limit(); limit > 0 {
			line.Limit = fmt.Sprintf("<= %.2f", limit)
		}
		if err := show(line); err != nil {
			return err
		}
	}
	return nil
}
