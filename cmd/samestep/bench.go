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
	flags := []cli.Flag{jsonFlag, &cli.DurationFlag{Name: "time", Value: 2 * time.Second, Usage: "how long to measure each figure"}}
	return &cli.Command{
		Name:  "bench",
		Usage: "measure the cost of the engine on this machine",
		Description: `Most figures are ratios of the CPU time of two things that alternate within one run.
Longer measurements make them valid on a busy machine, too.`,
		Subcommands: []*cli.Command{
			{
				Name:  "log",
				Usage: "a match of the example game, compared with the same game without the engine",
				Description: `The tax is the work of a player's machine besides the game: decode the log, compute
and compare a checksum every tick, and write the replay. Bots play the long match,
which stays in your cache directory for the next time.`,
				Flags:  append(flags[:len(flags):len(flags)], minutesFlag),
				Action: benchAction(benchLog),
			},
			{
				Name:  "fixed",
				Usage: "fixed-point arithmetic, compared with floating point",
				Flags: flags, Action: benchAction(benchFixed),
			},
			benchNetCommand(),
		},
	}
}

// A benchLine is one measured figure.
type benchLine struct {
	Name   string  `json:"name"`
	Beside string  `json:"beside,omitempty"` // the other side of the ratio
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Limit  string  `json:"limit,omitempty"` // that Value should not exceed
}

func (l benchLine) print(w io.Writer) error {
	line := fmt.Sprintf("%-28s %8.2f %-10s  %-8s", l.Name, l.Value, l.Unit, l.Limit)
	if l.Beside != "" {
		line += "  compared with " + l.Beside
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// benchAction makes the action of a benchmark, which passes its lines to show.
func benchAction(bench func(c *cli.Context, show func(benchLine) error) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := between(c, "time", 0, time.Hour); err != nil {
			return err
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

// benchFixed measures each pair in rounds of n operations, for --time in all.
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
