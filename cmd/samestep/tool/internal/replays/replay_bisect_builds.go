//go:build !js

package replays

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/replay"
)

// bisectBuilds compares what two builds of a game make of the commands of replays.
func bisectBuilds(c *cli.Context) error {
	if c.IsSet("player") || c.IsSet(console.HTMLFlag.Name) {
		return console.Usagef("--other cannot be used with --player or --html")
	}
	others, err := gameset.NewModuleSet(c, nil, []string{c.String("other")})
	if err != nil {
		return err
	}
	args := c.Args().Slice()
	if !IsBatch(args) {
		return gameset.OnReplay(func(c *cli.Context, f *replay.File) error {
			o, done := bisectOptions(c)
			from := time.Now()
			found, err := bisectWith(others, c, f, o)
			done()
			if err != nil {
				return console.Refuse(c, err, nil)
			}
			found.Took = time.Since(from)
			found.Err = differs(found)
			return gameset.Report(c, found, found.Err)
		})(c)
	}
	b, err := NewBatch(c, args, ReplayExtension)
	if err != nil {
		return err
	}
	return b.run(c, func(f *replay.File, _ BatchInput) BatchRow {
		o, _ := bisectOptions(c)
		o.Progress, o.SearchProgress = nil, nil // of one file
		found, err := bisectWith(others, c, f, o)
		if err != nil {
			return BatchRow{Err: err}
		}
		row := BatchRow{value: found, text: "both builds compute the same", Err: differs(found)}
		if row.Err != nil {
			row.Err = fmt.Errorf("%w from tick %d on: %s", row.Err, found.Tick, firstField(found))
		}
		return row
	})
}

// bisectOptions returns the options of the flags, with progress bars that done removes.
func bisectOptions(c *cli.Context) (bisect.Options, func()) {
	simulate, simulated := gameset.SimulateOptions(c)
	bar := console.NewProgress(c.App.ErrWriter, 0, "bytes")
	o := bisect.Options{SimulateOptions: simulate, Limit: c.Int("limit"), Path: c.String(gameset.PathFlag.Name), Now: time.Now, SearchProgress: func(n, all int64) {
		simulated()
		bar.SetOf(n, all)
	}}
	if c.Bool("no-search") {
		o.MaxSearch = -1
	}
	if o.Limit == 0 {
		o.Limit = -1 // none
	}
	return o, func() {
		bar.Done()
		simulated()
	}
}

// differs returns the error of a bisection that has found something.
func differs(b *bisect.Bisection) error {
	if b.Same {
		return b.Err
	}
	return console.ErrDiffers
}

// firstField describes the first field that differs.
func firstField(b *bisect.Bisection) string {
	if len(b.Fields.List) == 0 {
		return "no field"
	}
	return b.Fields.List[0].String()
}

// bisectWith compares what the game at hand and the one of the set make of a replay.
func bisectWith(m *gameset.ModuleSet, c *cli.Context, f *replay.File, o bisect.Options) (*bisect.Bisection, error) {
	g, h, err := gameset.GameIn(c, f)
	if err != nil {
		return nil, err
	}
	other, err := m.Other(h)
	if err != nil {
		return nil, &console.FileError{Name: c.String("other"), Err: err}
	}
	gameset.ModulesOf(c).Note(f, other)
	return bisect.Games(f, g, other.Game, o)
}
