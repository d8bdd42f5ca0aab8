//go:build !js

package desyncs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/triage"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncTriageCommand() *cli.Command {
	return &cli.Command{
		Name:      "triage",
		Usage:     "group many desyncs by their cause",
		ArgsUsage: "FOLDER|BUNDLE|RECORDING...",
		Description: `Explains each bundle, in FOLDER the *.zip files in it and below it, and counts them by
fingerprint: equal causes have equal ones. Of each it prints who was wrong, the builds
and platforms, when the first and the last file was written, and one bundle to look
at with explain. Files that it cannot explain are listed at the end.

Recordings of matches of another engine (docs/import.md), as *.jsonl, *.jsonl.gz or
imported *.ssr, are compared with the others of the same match ("match" in the header), as
replay bisect does: the first machine with each other. A match counts once, by the pair
that differs first. Other recordings of it, and other replays in FOLDER, are listed as left out.

Exits with 3 if it has found a desync, and with 7 if it has found only panics of the
rules.`,
		Flags: []cli.Flag{
			console.JSONFlag, gameset.AssetsFlag, replays.JobsFlag,
			console.HTMLFlag,
			&cli.DurationFlag{Name: "budget", Value: 2 * time.Second, Usage: "search for the cause of each for at most `TIME`"},
		},
		Action: desyncTriage,
	}
}

func desyncTriage(c *cli.Context) error {
	if err := console.Between(c, "budget", time.Millisecond, 0); err != nil {
		return err
	}
	args := c.Args().Slice()
	b, err := replays.NewBatch(c, args, replays.BundleExtension, replays.LinesExtension, replays.PackedExtension, replays.ReplayExtension)
	if err != nil {
		return err
	}
	left := groupMatches(b, args)
	if len(b.Inputs) == 0 {
		return fmt.Errorf("%s: no bundles and no recordings in this folder", strings.Join(args, ", "))
	}
	replays.Frugal()
	found, worst := groupDesyncs(c, b, left)
	return gameset.TellPage(c, found, func(w io.Writer) { found.WriteText(w) }, worst)
}

// groupDesyncs explains all files, and returns the groups and the error of the worst file. The groups say which files were left out before.
func groupDesyncs(c *cli.Context, b *replays.Batch, left []desync.LeftOut) (*triage.Triage, error) {
	games, o := gameset.GamesOf(c), desync.Options{Budget: c.Duration("budget"), Fields: 1, Apart: gameset.Listed(c).Apart()}
	bar := console.NewProgress(c.App.ErrWriter, int64(len(b.Inputs)), "files")
	found := &triage.Triage{Groups: []*triage.CaseGroup{}, Unreadable: []triage.Unreadable{}, LeftOut: []desync.LeftOut{}, Files: len(left)}
	for _, l := range left {
		found.Leave(l)
	}
	s, done := replays.BatchSum{From: time.Now(), Classes: map[string]int{}}, int64(0)
	replays.InOrder(b, func(in replays.BatchInput) triaged {
		if in.Match != nil {
			return triageMatch(c.App.Name, in.Match)
		}
		return triageBundle(c.App.Name, in, games, o)
	}, func(_ replays.BatchInput, r triaged) {
		for _, f := range r.failed {
			found.Fail(f.Name, f)
			s.Add(f)
		}
		if r.desync != nil {
			found.Add(*r.desync)
			s.Add(console.ErrExplained)
		}
		found.Agree(r.agree)
		for _, l := range r.left {
			found.Leave(l)
		}
		done++
		bar.Set(done)
	})
	bar.Done()
	found.Sort()
	found.Took = time.Since(s.From)
	if found.Desyncs+found.Panics > 0 {
		err := console.ErrExplained
		if found.Desyncs == 0 {
			err = console.ErrPanicked
		}
		s.Worst = &replays.BatchError{Text: fmt.Sprintf("%s in %s", found.Shown(), console.Count(found.Files, "file")), Worst: err}
	}
	return found, s.Worst
}

// A triaged is what a bundle, or the recordings of a match, show.
type triaged struct {
	desync *desync.Case // nil for none
	agree  int          // files that do not differ
	left   []desync.LeftOut
	failed []*console.FileError
}

func triageBundle(program string, in replays.BatchInput, games replay.Games, o desync.Options) (r triaged) {
	fail := func(err error) triaged { return triaged{failed: []*console.FileError{named(in.Path, err)}} }
	if in.Err != nil {
		return fail(in.Err)
	}
	f, err := in.Open(in.Path)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	e, err := explainBundle(f, games, o)
	if err != nil {
		return fail(err)
	}
	found := e.Case(in.Path, writtenAt(in.Path))
	found.Next = program + " desync explain " + words.ShellWord(in.Path)
	if p := e.Verdict.Parting; p != nil {
		found.Next = partingCommand(program, words.ShellWord(in.Path), p)
	}
	return triaged{desync: &found}
}

// writtenAt returns when a file was written; zero if that is not known.
func writtenAt(path string) (t time.Time) {
	if info, err := os.Stat(path); err == nil {
		t = info.ModTime()
	}
	return t
}

// named returns the error of a file with its name.
func named(name string, err error) *console.FileError {
	if f := (*console.FileError)(nil); errors.As(err, &f) && f.Name == name {
		return f
	}
	return &console.FileError{Name: name, Err: err}
}
