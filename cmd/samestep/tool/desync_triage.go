//go:build !js

package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

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
			jsonFlag, assetsFlag, jobsFlag,
			htmlFlag,
			&cli.DurationFlag{Name: "budget", Value: 2 * time.Second, Usage: "search for the cause of each for at most `TIME`"},
		},
		Action: desyncTriage,
	}
}

func desyncTriage(c *cli.Context) error {
	if err := between(c, "budget", time.Millisecond, 0); err != nil {
		return err
	}
	args := c.Args().Slice()
	b, err := newBatch(c, args, bundleExtension, linesExtension, packedExtension, replayExtension)
	if err != nil {
		return err
	}
	left := b.groupMatches(args)
	if len(b.inputs) == 0 {
		return fmt.Errorf("%s: no bundles and no recordings in this folder", strings.Join(args, ", "))
	}
	frugal()
	found, worst := groupDesyncs(c, b, left)
	return tellPage(c, found, func(w io.Writer) { found.WriteText(w) }, worst)
}

// groupDesyncs explains all files, and returns the groups and the error of the worst file. The groups say which files were left out before.
func groupDesyncs(c *cli.Context, b *batch, left []desync.LeftOut) (*triage.Triage, error) {
	games, o := gamesOf(c), desync.Options{Budget: c.Duration("budget"), Fields: 1, Apart: listed(c).apart()}
	bar := newProgress(c.App.ErrWriter, int64(len(b.inputs)), "files")
	found := &triage.Triage{Groups: []*triage.CaseGroup{}, Unreadable: []triage.Unreadable{}, LeftOut: []desync.LeftOut{}, Files: len(left)}
	for _, l := range left {
		found.Leave(l)
	}
	s, done := batchSum{from: time.Now(), classes: map[string]int{}}, int64(0)
	inOrder(b, func(in batchInput) triaged {
		if in.match != nil {
			return triageMatch(c.App.Name, in.match)
		}
		return triageBundle(c.App.Name, in, games, o)
	}, func(_ batchInput, r triaged) {
		for _, f := range r.failed {
			found.Fail(f.name, f)
			s.add(f)
		}
		if r.desync != nil {
			found.Add(*r.desync)
			s.add(errExplained)
		}
		found.Agree(r.agree)
		for _, l := range r.left {
			found.Leave(l)
		}
		done++
		bar.set(done)
	})
	bar.done()
	found.Sort()
	found.Took = time.Since(s.from)
	if found.Desyncs+found.Panics > 0 {
		err := errExplained
		if found.Desyncs == 0 {
			err = errPanicked
		}
		s.worst = &batchError{fmt.Sprintf("%s in %s", found.Shown(), count(found.Files, "file")), err}
	}
	return found, s.worst
}

// A triaged is what a bundle, or the recordings of a match, show.
type triaged struct {
	desync *desync.Case // nil for none
	agree  int          // files that do not differ
	left   []desync.LeftOut
	failed []*fileError
}

func triageBundle(program string, in batchInput, games replay.Games, o desync.Options) (r triaged) {
	fail := func(err error) triaged { return triaged{failed: []*fileError{named(in.path, err)}} }
	if in.err != nil {
		return fail(in.err)
	}
	f, err := in.open(in.path)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	e, err := explainBundle(f, games, o)
	if err != nil {
		return fail(err)
	}
	found := e.Case(in.path, writtenAt(in.path))
	found.Next = program + " desync explain " + words.ShellWord(in.path)
	if p := e.Verdict.Parting; p != nil {
		found.Next = partingCommand(program, words.ShellWord(in.path), p)
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
func named(name string, err error) *fileError {
	if f := (*fileError)(nil); errors.As(err, &f) && f.name == name {
		return f
	}
	return &fileError{name, err}
}
