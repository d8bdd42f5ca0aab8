//go:build !js

package desyncs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/desync/triage"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncTriageCommand() *cli.Command {
	return &cli.Command{
		Name:      "triage",
		Usage:     "group many desyncs by their cause",
		ArgsUsage: "FOLDER|BUNDLE|RECORDING...",
		Description: `Explains each bundle; a FOLDER stands for all *.zip files below it. It groups bundles
by fingerprint, which is equal for equal causes, and prints for each group who was wrong,
the builds and platforms, the times of the first and last file, and the best bundle to
explain. Files that it cannot explain come last.

Recordings of another engine (docs/import.md), *.jsonl, *.jsonl.gz or imported *.ssr, are
compared with those of the same match ("match" in the header) as replay bisect does: the
first machine with each other one. A match counts once, by the pair that differs first.
Its other recordings, and other replays in FOLDER, are listed as left out.

Exits with 3 if it found a desync, and with 7 if it found only panics of the rules.`,
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
		class := replay.ClassDesync
		if found.Desyncs == 0 {
			class = replay.ClassPanic
		}
		s.Worst = &console.ClassError{Class: class, Text: fmt.Sprintf("%s in %s", found.Shown(), console.Count(found.Files, "file"))}
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

func writtenAt(path string) (t time.Time) {
	if info, err := os.Stat(path); err == nil {
		t = info.ModTime()
	}
	return t
}

func named(name string, err error) *console.FileError {
	if f := (*console.FileError)(nil); errors.As(err, &f) && f.Name == name {
		return f
	}
	return &console.FileError{Name: name, Err: err}
}

// maxRecordings is how many recordings of one match are compared with each other.
const maxRecordings = 64

var (
	errNoMatch     = errors.New(`the header names no "match": compare it with replay bisect A B`)
	errLone        = errors.New("no other recording of its match can be read")
	errNoRecording = errors.New("not a recording of a match")
)

// groupMatches makes one input of the recordings of each match. It leaves out replays that are no recordings and no argument.
func groupMatches(b *replays.Batch, args []string) (left []desync.LeftOut) {
	all, matches := b.Inputs, map[string]int{} // matches are indexes in b.inputs, and are only looked up
	b.Inputs = nil
	for _, in := range all {
		match, is, err := recordedMatch(in)
		at, known := matches[match]
		switch {
		case err != nil:
			in.Err = err
		case !is && replays.HasExtension(in.Path, []string{replays.ReplayExtension}) && !slices.Contains(args, in.Path):
			left = append(left, desync.LeftOut{Name: in.Path, Why: "a replay, and not a recording of another engine: see replay verify"})
			continue
		case !is && replays.HasExtension(in.Path, []string{replays.LinesExtension, replays.PackedExtension}):
			in.Err = errNoRecording
		case !is:
		case match == "":
			in.Err = errNoMatch
		case known && len(b.Inputs[at].Match) == maxRecordings:
			in.Err = fmt.Errorf("%w: more than %d recordings of match %q", replay.ErrLimit, maxRecordings, match)
		case known:
			b.Inputs[at].Match = append(b.Inputs[at].Match, in)
			continue
		default:
			matches[match] = len(b.Inputs)
			in.Match = []replays.BatchInput{in}
		}
		b.Inputs = append(b.Inputs, in)
	}
	b.Jobs = max(1, min(b.Jobs, len(b.Inputs)))
	return left
}

// recordedMatch reports whether a file is a recording of another engine, and of which match. It reads only the beginning.
func recordedMatch(in replays.BatchInput) (match string, is bool, err error) {
	if in.Err != nil || strings.EqualFold(filepath.Ext(in.Path), replays.BundleExtension) {
		return "", false, in.Err
	}
	f, err := in.Open(in.Path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	_, is, match, err = replays.IsRecording(f)
	return match, is, err
}

func triageMatch(program string, all []replays.BatchInput) (found triaged) {
	var r replays.Recordings
	defer r.Close()
	for _, in := range all {
		f, err := gameset.OpenWith(in.Open, in.Path)
		if err == nil {
			err = r.Add(f, in.Path)
		}
		if err != nil {
			found.failed = append(found.failed, named(in.Path, err))
		}
	}
	if len(r.All) < 2 {
		triageOne(&r, program, &found)
		return found
	}
	d, err := recordings.CompareMachines(r.All, recordings.Options{Limit: 1})
	if err != nil {
		for _, one := range r.All {
			found.failed = append(found.failed, named(one.File, err))
		}
		return found
	}
	if c, differs := d.Case(writtenAt(d.A.File)); differs {
		c.Files, found.left = len(r.All), d.LeftOut
		c.Next = fmt.Sprintf("%s replay bisect %s %s", program, words.ShellWord(d.A.File), words.ShellWord(d.B.File))
		found.desync = &c
		return found
	}
	if insideOf(&r, program, &found); found.desync != nil {
		return found
	}
	found.agree = len(r.All)
	lone := d.LeftOut
	if err := d.Uncompared(); err != nil {
		why := fmt.Sprintf("%v; A is %s, and B is %s", err, d.A.File, d.B.File)
		lone = append(lone, desync.LeftOut{Name: d.A.File, Why: why, Lone: true}, desync.LeftOut{Name: d.B.File, Why: why, Lone: true})
	}
	for _, l := range lone {
		if l.Lone {
			found.agree--
			found.failed = append(found.failed, named(l.Name, errors.New(l.Why)))
		}
	}
	return found
}

// triageOne triages the only readable recording of a match, if there is one.
func triageOne(r *replays.Recordings, program string, found *triaged) {
	for _, one := range r.All {
		switch compared, err := insideOf(r, program, found); {
		case err != nil:
			found.failed = append(found.failed, named(one.File, err))
		case found.desync != nil:
		case compared:
			found.agree = 1
		default:
			found.failed = append(found.failed, named(one.File, errLone))
		}
	}
}

// insideOf finds a recording in which players disagree. It reports whether it has compared any.
func insideOf(r *replays.Recordings, program string, found *triaged) (compared bool, err error) {
	for i, f := range r.Files {
		in, err := f.Reader()
		if err != nil {
			return compared, err
		}
		m, err := desync.CompareReports(in)
		if c, differs := m.Case(r.All[i].File, writtenAt(r.All[i].File)); differs {
			c.Files = len(r.All)
			c.Next = program + " replay verify " + words.ShellWord(c.Name)
			found.desync = &c
			for _, other := range r.All {
				if other.File != c.Name {
					found.left = append(found.left, desync.LeftOut{Name: other.File, Why: "of the same match, and shows no difference from the others"})
				}
			}
			return true, nil
		}
		if err != nil && !errors.As(err, new(*replay.DamageError)) && !errors.Is(err, desync.ErrNothingCompared) {
			return compared, err
		}
		compared = compared || m.Checks > m.Alone
	}
	return compared, nil
}
