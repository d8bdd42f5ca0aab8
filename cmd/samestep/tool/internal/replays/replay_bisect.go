//go:build !js

package replays

import (
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayBisectCommand() *cli.Command {
	return &cli.Command{
		Name:      "bisect",
		Usage:     "find the first tick at which two replays of one match differ, and the fields",
		ArgsUsage: "A B | A B MORE... | A REPORTS | A --player N | A... --other MODULE",
		Description: `B is another replay; or a file of JSON lines with reported checksums, as export
prints them; or, with --player and without B, the checksums in A that this player
reported.

With --other, both sides are A: B is what another build of the rules, in a module
(samestep rules build), makes of its commands. A's build is that of --rules, or else the
match's own. A may be a folder or several files: then each is a line, with the first tick
and field that come out differently.

A bundle counts as the replay in it. A replay may end early: both are compared up to
its last tick.

Checksums and keyframes tell between which ticks the states diverge. From the
keyframe before, the match is simulated with the game's code, which tells whose
states are wrong. The fields are those that differ at the first tick for which B's
state is known, first those that lead to the others. Where B has only a checksum of a tick, a search by trying can still
find one changed field.

Two recordings of another engine (docs/import.md), as lines of JSON or imported, are
compared up to the field, if they have the states. If not, bisect says which ones to
record in a second run. MORE are recordings of such runs: each belongs to the side with
its player, build and platform; if these are equal on both sides, the files alternate.
--html is for recordings only.

Exits with 5 if the replays have different schemas of the state, with 3 if anything
differs, with 4 if nothing differs before the readable part of a replay ends, and
otherwise with 0.`,
		Flags: []cli.Flag{
			console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag, limitFlag,
			&cli.StringFlag{Name: "other", Usage: "compare with what the rules of the module in `FILE` make of the same commands", DefaultText: "none"},
			&cli.UintFlag{Name: "player", Usage: "compare with the checksums of player `N`", DefaultText: "none"},
			console.HTMLFlag, JobsFlag,
			&cli.BoolFlag{Name: "no-search", Usage: "do not search for the field where only a checksum is known"},
		},
		Action: replayBisect,
	}
}

func replayBisect(c *cli.Context) error {
	if c.IsSet("other") {
		return bisectBuilds(c)
	}
	if c.NArg() == 1 && !c.IsSet("player") {
		return console.Usagef("got 1 argument, want two files, or one replay and --player or --other")
	}
	if err := console.Between(c, "limit", 0, 0); err != nil {
		return err
	}
	if names := c.Args().Slice(); len(names) >= 2 && !c.IsSet("player") {
		is, err := areRecordings(names)
		if is {
			return compareRecordings(c, names, nil)
		}
		if err != nil {
			return err
		}
	}
	if c.NArg() > 2 || c.IsSet(console.HTMLFlag.Name) {
		return console.Usagef("more than two files and --html are for recordings of another engine")
	}
	a, err := gameset.OpenReplay(c.Args().First())
	if err != nil {
		return err
	}
	defer a.Close()
	switch isReplay, err := gameset.BeginsAsReplay(a); {
	case err != nil:
		return gameset.OfFile(a.Path(), err)
	case !isReplay:
		return console.Usagef("%s is not a replay and not a bundle", a.Path())
	}
	o, done := bisectOptions(c)
	from := time.Now()
	found, err := bisectOne(c, a, o)
	done()
	if err != nil {
		return gameset.PathError(err)
	}
	found.Took = time.Since(from)
	if !found.Same {
		found.Err = errors.Join(console.ErrDiffers, found.Err)
	}
	return gameset.Report(c, found, found.Err)
}

// bisectOne compares a replay with the second file, or with the checksums of a player in it.
func bisectOne(c *cli.Context, a *replay.File, o bisect.Options) (*bisect.Bisection, error) {
	o.Apart = gameset.ApartFor(c, a)
	player := (*lockstep.Player)(nil)
	if c.IsSet("player") {
		h, err := a.Header()
		if err != nil {
			return nil, gameset.OfFile(a.Path(), err)
		}
		if p, seats := c.Uint("player"), h.Settings.Players; p >= uint(seats) {
			return nil, console.Usagef("got player %d, want at most %d: the match has %s", p, seats-1, console.Count(int(seats), "seat"))
		}
		p := lockstep.Player(c.Uint("player"))
		player = &p
	}
	if c.NArg() == 2 {
		return bisectSecond(c, a, player, o)
	}
	games, err := gameset.GamesFor(c, a)
	if err != nil {
		return nil, gameset.OfFile(a.Path(), err)
	}
	return bisect.Player(a, *player, games, o)
}

// bisectSecond compares a replay with another one, or with a file of reports.
func bisectSecond(c *cli.Context, a *replay.File, player *lockstep.Player, o bisect.Options) (*bisect.Bisection, error) {
	b, err := replay.Open(c.Args().Get(1))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	isReplay, err := gameset.BeginsAsReplay(b)
	if err != nil {
		return nil, gameset.OfFile(b.Path(), err)
	}
	if isReplay {
		games, err := gameset.GamesForBoth(c, a, b)
		if err != nil {
			return nil, err
		}
		return bisect.Files(a, b, games, o)
	}
	content, size, err := b.Content()
	if err != nil {
		return nil, err
	}
	reports, err := bisect.ReadReports(io.NewSectionReader(content, 0, size), player)
	if errors.Is(err, bisect.ErrPlayers) {
		return nil, console.Usagef("%v; want --player", err)
	}
	if err != nil {
		return nil, gameset.OfFile(b.Path(), err)
	}
	games, err := gameset.GamesFor(c, a)
	if err != nil {
		return nil, gameset.OfFile(a.Path(), err)
	}
	return bisect.File(a, reports, games, o)
}
