//go:build !js

package replays

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayBisectCommand() *cli.Command {
	return &cli.Command{
		Name:      "bisect",
		Usage:     "find the first tick at which two replays of one match differ, and the fields",
		ArgsUsage: "A B | A B MORE... | A REPORTS | A --player N | A... --other MODULE",
		Description: `B is another replay, a file of JSON lines with reported checksums, as export prints them,
or, with --player and without B, the checksums in A that this player reported.

With --other, B is what another build of the rules, in a module (samestep rules build),
makes of A's commands. A's own build is that of --rules, or else the match's. A may be a
folder or several files: each gives a line with the first tick and field that differ.

Of a bundle, the replay in it is compared. Replays are compared up to the last tick that
both have.

Checksums and keyframes tell between which ticks the states diverge. From the keyframe
before, bisect simulates the match with the game's code, to tell whose states are wrong.
It shows the fields that differ at the first tick for which B's state is known, the
likeliest origin first. If only a checksum of B is known, it looks for one field with
another value that gives this checksum, and may find none.

Two recordings of another engine (docs/import.md), as lines of JSON or imported, are
compared down to the field if they have the states. If not, bisect says which states to
record in a second run. MORE are recordings of such runs: each belongs to the side with
its player, build and platform; if both sides have the same, the files alternate.
--html is for recordings only.

Exits with 5 if the schemas of the states differ, with 3 if anything else differs, with 4
if nothing differs before the readable part of a replay ends, and otherwise with 0.`,
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

func bisectOne(c *cli.Context, a *replay.File, o bisect.Options) (*bisect.Bisection, error) {
	o.Apart = gameset.ApartFor(c, a)
	var player *lockstep.Player
	if c.IsSet("player") {
		h, err := a.Header()
		if err != nil {
			return nil, gameset.OfFile(a.Path(), err)
		}
		if p, seats := c.Uint("player"), h.Settings.Players; p >= uint(seats) {
			return nil, console.Usagef("--player: got %d, want 0 to %d", p, seats-1)
		}
		player = new(lockstep.Player(c.Uint("player")))
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
			field := "no field"
			if len(found.Fields.List) > 0 {
				field = found.Fields.List[0].String()
			}
			row.Err = fmt.Errorf("%w from tick %d on: %s", row.Err, found.Tick, field)
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

func differs(b *bisect.Bisection) error {
	if b.Same {
		return b.Err
	}
	return console.ErrDiffers
}

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

// Recordings are the open recordings of matches of another engine.
type Recordings struct {
	Files []*replay.File
	All   []*recordings.Recording
}

// Close closes all files.
func (r *Recordings) Close() {
	for _, f := range r.Files {
		f.Close()
	}
}

// Add takes a file, which Close closes.
func (r *Recordings) Add(f *replay.File, name string) error {
	r.Files = append(r.Files, f)
	in, err := f.Reader()
	if err != nil {
		return gameset.OfFile(name, err)
	}
	found, err := recordings.Read(in, name)
	if errors.Is(err, recordings.ErrNoRecording) {
		return console.Usagef("%s: want a recording of another engine, as the first file is", name)
	}
	if err != nil {
		return gameset.OfFile(name, err)
	}
	r.All = append(r.All, found)
	return nil
}

// areRecordings reports whether both files are of another engine, and one is lines or has more than commands, checksums and notes.
func areRecordings(names []string) (bool, error) {
	is := false
	for _, name := range names[:2] {
		f, err := replay.Open(name)
		if err != nil {
			return false, err
		}
		imported, recorded, _, err := IsRecording(f)
		f.Close()
		if err != nil || !imported && name == names[0] {
			return false, gameset.OfFile(name, err)
		}
		is = is || recorded
	}
	return is, nil
}

// IsRecording reports whether a file was imported, whether it is a recording, and of which match, if the recording says that.
func IsRecording(f *replay.File) (imported, recorded bool, match string, err error) {
	if lines, err := matchlines.HeaderOfLines(f); err != nil {
		return false, false, "", err
	} else if lines != nil {
		return true, true, lines.Match, nil
	}
	if is, err := gameset.BeginsAsReplay(f); !is || err != nil {
		return false, false, "", err
	}
	h, err := f.Header()
	if err != nil || h.Engine != replay.ForeignEngine {
		return false, false, "", nil // the verb says what is wrong
	}
	r, err := f.Reader()
	if err != nil {
		return false, false, "", nil
	}
	match, recorded = recordings.MatchOf(r)
	return true, recorded, match, nil
}

// compareRecordings prints where the recordings of two machines differ. The first two files are of A and B.
func compareRecordings(c *cli.Context, names []string, tick *lockstep.Tick) error {
	r := &Recordings{}
	defer r.Close()
	for _, name := range names {
		f, err := gameset.OpenReplay(name)
		if err == nil {
			err = r.Add(f, name)
		}
		if err != nil {
			return err
		}
	}
	a, b, err := recordings.SidesOf(r.All)
	if err != nil {
		return console.Usagef("%v", err)
	}
	limit := c.Int("limit")
	if limit == 0 {
		limit = -1 // none
	}
	d, err := recordings.Compare(a, b, recordings.Options{Tick: tick, Path: c.String(gameset.PathFlag.Name), Limit: limit})
	if err != nil {
		return gameset.PathError(err)
	}
	err = d.Uncompared()
	if early := d.Early(); d.Cause != recordings.CauseNone {
		err = console.ErrDiffers
	} else if err == nil && early != "" {
		err = &console.ClassError{Class: replay.ClassTorn, Text: early + " ends early, and nothing differs before"}
	}
	return gameset.TellPage(c, d, func(w io.Writer) { d.WriteText(w) }, err)
}

var limitFlag = &cli.IntFlag{Name: "limit", Value: 20, Usage: "print at most `N` lines of fields, and N commands of a side"}
