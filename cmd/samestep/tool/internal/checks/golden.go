//go:build !js

package checks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// GoldenCommand returns the verb golden.
func GoldenCommand() *cli.Command {
	return &cli.Command{
		Name:  "golden",
		Usage: "verify the golden matches of a game: the same rules must give the same states as before",
		Description: `Simulates the matches of the game's build in a folder again, and compares every state
hash with the replay. Run it on each processor and with each compiler that you support.
It exits with 3 if the rules have another result while Build is the same: raise Build.

--add plays a match of this build and adds it, unless the folder has one. Files of
other builds stay as they are. A test does the same: see locksteptest.Golden.`,
		Flags: append([]cli.Flag{
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag, console.JSONFlag,
			&cli.StringFlag{Name: "dir", Value: "testdata/golden", Usage: "`FOLDER` of the matches"},
			&cli.UintFlag{Name: "players", Value: 2, Usage: "seats of an added match"},
			&cli.UintFlag{Name: "ticks", Usage: "ticks of an added match, 1 to 100000; 0: until a match of bots ends, at most 1000, or 200 without bots"},
			&cli.BoolFlag{Name: "add", Usage: "add a match of this build"},
		}, console.RandomFlags...),
		Action: golden,
	}
}

func golden(c *cli.Context) error {
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	o, err := GoldenOptions(c, g)
	if err != nil {
		return err
	}
	check := locksteptest.CheckGolden
	if c.Bool("add") {
		check = locksteptest.AddGolden
	}
	found, err := check(g.Game, o)
	if console.IsAny(err, locksteptest.ErrGoldenChanged, locksteptest.ErrGoldenPlatform) {
		return fmt.Errorf("%w: %w", console.ErrGolden, err)
	}
	if failure := (*locksteptest.Failure)(nil); errors.As(err, &failure) && failure.Field != "" {
		return fmt.Errorf("%w: %w", console.ErrDiffers, err)
	}
	if errors.Is(err, locksteptest.ErrNoGolden) && !c.IsSet("dir") {
		if elsewhere, _ := filepath.Glob("*/" + o.Dir); len(elsewhere) > 0 { // the pattern is well-formed
			return fmt.Errorf("%w; did you mean --dir %s?", err, elsewhere[0])
		}
	}
	if err != nil {
		return console.ThinHint(err, "--players N, --ticks N, ")
	}
	result := struct {
		Game  string `json:"game"`
		Build string `json:"build"`
		locksteptest.GoldenResult
	}{g.Name(), g.Build(), found}
	return gameset.Tell(c, result, func(w io.Writer) {
		line := console.NewLiner(w)
		line("verified", "%s of %s build %s", console.Count(len(found.Files), "match"), g.Name(), g.Build())
		for _, name := range found.Files {
			line("", "%s", name)
		}
		line("reached", "%s", found.Reached)
	}, nil)
}

// GoldenOptions returns the options of an added match. Without weights, the game's bots play alone.
func GoldenOptions(c *cli.Context, g *gameset.Playable) (o locksteptest.GoldenOptions, err error) {
	if err := cmp.Or(console.Between[uint](c, "players", 1, 16), console.Between[uint](c, "ticks", 0, 100000)); err != nil {
		return o, err
	}
	players, config, err := g.Match(c, 0)
	if err != nil {
		return o, err
	}
	o = locksteptest.GoldenOptions{
		Dir: c.String("dir"), Config: config, Players: players, Ticks: lockstep.Tick(c.Uint("ticks")), AllowThin: c.String("allow-thin"), Floor: g.Floor,
	}
	if o.Weights, err = console.Weights(c); err != nil {
		return o, err
	}
	if g.Maker == nil {
		return o, nil
	}
	if o.Ticks == 0 { // with bots of its own, because bots have memory
		if o.Ticks, err = g.Length(players, 1, config, 0); err != nil {
			return o, err
		}
	}
	o.Play = g.Bots()(1)
	return o, nil
}
