package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncExplainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "tell from a desync's bundle who was wrong, since which tick, in which fields, and why",
		ArgsUsage: "BUNDLE",
		Description: `A server writes a bundle beside the replay when a player's checksum differs. This
simulates the match in it again from where all agreed, compares the states, and
tries which single fault leads to the wrong one: a command lost, doubled, moved
or run in another order, a generator drawn from once more, a field altered.
Without the game's code it says what the states and the log alone tell.

Exits with 3 if it has explained the desync.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "html", Usage: "also write a page to `FILE`, to be opened in a browser"},
			&cli.IntFlag{Name: "fields", Value: 200, Usage: "list at most `N` fields"},
			&cli.IntFlag{Name: "max-ticks", Value: 100_000, Usage: "simulate at most `N` ticks to reach the desync"},
			&cli.IntFlag{Name: "budget", Value: 20_000, Usage: "simulate at most `N` ticks in search of the cause"},
		},
		OnUsageError: usageError,
		Action:       desyncExplain,
	}
}

// errExplained makes explain exit with 3 after it printed its explanation.
var errExplained = errors.New("a desync, explained")

func desyncExplain(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("explain: got %s, want one bundle", count(c.NArg(), "argument"))
	}
	for _, name := range []string{"fields", "max-ticks", "budget"} {
		if c.Int(name) < 1 {
			return usagef("explain: --%s: got %d, want at least 1", name, c.Int(name))
		}
	}
	frugal()
	bar := newProgress(c.App.ErrWriter, 2*int64(c.Int("budget")), "ticks")
	e, err := explainFile(c.Args().First(), desync.Options{
		Fields: c.Int("fields"), MaxTicks: c.Int("max-ticks"), Budget: c.Int("budget"),
		Progress: func(ticks int) { bar.set(int64(ticks)) },
	})
	bar.done()
	if err != nil {
		return &fileError{c.Args().First(), err}
	}
	if path := c.String("html"); path != "" {
		if err := files.Create(path, func(out *os.File) error { return e.WriteHTML(out) }); err != nil {
			return err
		}
	}
	if err := printExplanation(c, e); err != nil {
		return err
	}
	return &fileError{c.Args().First(), errExplained}
}

func printExplanation(c *cli.Context, e *desync.Explanation) error {
	if c.Bool("json") {
		return writeJSON(c.App.Writer, e)
	}
	err := e.WriteText(c.App.Writer)
	if path := c.String("html"); path != "" && err == nil {
		_, err = fmt.Fprintf(c.App.Writer, "%-9s  %s\n", "page", path)
	}
	return err
}

// explainFile explains the bundle in a file with the games of this binary.
func explainFile(path string, o desync.Options) (*desync.Explanation, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := replay.OpenBundle(f, info.Size())
	if err != nil {
		return nil, err
	}
	o.Game, o.Now = func(h *lockstep.Header) (*lockstep.Game, error) { return gameOf(h) }, time.Now
	return desync.Explain(b, o)
}
