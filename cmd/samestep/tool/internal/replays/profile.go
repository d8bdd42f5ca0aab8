//go:build !js

package replays

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/profile"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

func replayProfileCommand() *cli.Command {
	return &cli.Command{
		Name:      "profile",
		Usage:     "show what each tick cost: its phases, the worst ticks, growth, allocations",
		ArgsUsage: "FILE|BUNDLE",
		Description: `Simulates the match with the game's code, and measures the rules' Step in each tick, and
the phases in it that the rules mark (Turn.Phase): on this machine, not on those of the
match. Short matches run up to 20 times, at most for three seconds, and of each tick the
quickest run counts. One more run counts allocations. Hashing, reading the file and the
network are no part of the times.

Of the worst ticks it prints the phases, the commands and the lengths of the lists in the
state; of each tenth of the match, the times, the size of the state and the lists that
change most. --json has all lists.

--pprof writes a CPU profile of further runs, whose samples have the labels game, match,
tick and phase: go tool pprof -tagfocus phase=NAME FILE. It has 100 samples a second, so one
tick has few. Samples of the program itself have no labels.

Of rules in a module, only whole ticks are timed, and no allocations are counted. A file
that is cut short is measured up to there, with the exit code 4; a match that contradicts
its checksums is measured, with 3.`,
		Flags: []cli.Flag{
			console.JSONFlag, gameset.MaxTicksFlag, gameset.AssetsFlag,
			&cli.UintFlag{Name: "from", Usage: "measure from tick `T` on", DefaultText: "the first"},
			&cli.UintFlag{Name: "to", Usage: "measure up to tick `T`", DefaultText: "the last"},
			&cli.IntFlag{Name: "limit", Value: 5, Usage: "list the `N` worst ticks"},
			&cli.StringFlag{Name: "pprof", Usage: "also write a CPU profile for go tool pprof to `FILE`, which must not exist"},
			console.HTMLFlag,
		},
		Action: gameset.OnReplay(replayProfile),
	}
}

// profileRepeat is how long a measurement is repeated.
const profileRepeat = 3 * time.Second

func replayProfile(c *cli.Context, f *replay.File) error {
	if err := console.Between(c, "limit", 0, 1000); err != nil {
		return err
	}
	o := profile.Options{From: gameset.TickOf(c, "from"), To: gameset.TickOf(c, "to"), Worst: c.Int("limit"), Repeat: profileRepeat}
	switch {
	case c.IsSet("from") && o.From == 0, c.IsSet("to") && o.To == 0:
		return console.Usagef("--from and --to: got 0, want at least 1")
	case c.IsSet("to") && o.From > o.To:
		return console.Usagef("--from: got %d, want at most --to, %d", o.From, o.To)
	}
	g, _, err := gameset.GameIn(c, f)
	if err != nil {
		return err
	}
	r, err := f.Reader()
	if err != nil {
		return err
	}
	o.Elsewhere = gameset.InModule(c, f, g)
	simulate, done := gameset.SimulateOptions(c)
	defer done()
	o.MaxTicks, o.Progress = simulate.MaxTicks, simulate.Progress
	var p *profile.Profile
	measure := func(to *os.File) (err error) {
		if to != nil {
			o.CPU = to
		}
		p, err = profile.Measure(r, g, o)
		done()
		return err
	}
	path := c.String("pprof")
	if path == "" {
		err = measure(nil)
	} else {
		err = files.Create(path, measure)
	}
	var missing *replay.TickError
	switch {
	case errors.As(err, &missing):
		return console.Usagef("tick %d: %s has ticks %d to %d", missing.Tick, f.Path(), missing.First, missing.Last)
	case err != nil:
		return err
	}
	return reportProfile(c, f, p, path)
}

// reportProfile prints a profile, and where the CPU profile is.
func reportProfile(c *cli.Context, f *replay.File, p *profile.Profile, path string) error {
	err := gameset.TellPage(c, p, func(w io.Writer) { p.WriteText(w) }, unlessBundled(f, p.Err()))
	if path != "" && !c.Bool("json") {
		console.NewLiner(c.App.Writer)("pprof", "%s: go tool pprof -tagfocus phase=NAME %s", path, path)
	}
	return err
}
