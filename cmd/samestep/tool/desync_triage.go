//go:build !js

package tool

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncTriageCommand() *cli.Command {
	return &cli.Command{
		Name:      "triage",
		Usage:     "group the bundles of many desyncs by their cause",
		ArgsUsage: "FOLDER|BUNDLE...",
		Description: `Explains each bundle, in FOLDER the *.zip files in it and below it, and counts them by
fingerprint: equal causes have equal ones. Of each it prints who was wrong, the builds
and platforms, when the first and the last file was written, and one bundle to look
at with explain. Files that cannot be read are listed at the end.

Exits with 3 if it has explained a desync.`,
		Flags: []cli.Flag{
			jsonFlag, assetsFlag, jobsFlag,
			&cli.StringFlag{Name: "html", Usage: "also write a page for browsers to `FILE`"},
			&cli.DurationFlag{Name: "budget", Value: 2 * time.Second, Usage: "search for the cause of each for at most `TIME`"},
		},
		Action: desyncTriage,
	}
}

func desyncTriage(c *cli.Context) error {
	if err := between(c, "budget", time.Millisecond, 0); err != nil {
		return err
	}
	b, err := newBatch(c, c.Args().Slice(), bundleExtension)
	if err != nil {
		return err
	}
	frugal()
	found, worst := triage(c, b)
	page := c.String("html")
	if page != "" {
		if err := files.Create(page, func(out *os.File) error { return found.WriteHTML(out) }); err != nil {
			return err
		}
	}
	return tell(c, found, func(w io.Writer) {
		found.WriteText(w)
		if page != "" {
			newLiner(w)("page", "%s", page)
		}
	}, worst)
}

// triage explains all files, and returns the groups and the error of the worst file.
func triage(c *cli.Context, b *batch) (*desync.Triage, error) {
	type result struct {
		desync.Case
		err error
	}
	games, budget := gamesOf(c), c.Duration("budget")
	bar := newProgress(c.App.ErrWriter, int64(len(b.inputs)), "files")
	found := &desync.Triage{Groups: []*desync.CaseGroup{}, Unreadable: []desync.Unreadable{}}
	s := batchSum{from: time.Now(), classes: map[string]int{}}
	inOrder(b, func(in batchInput) (r result) {
		r.Case, r.err = triageCase(in, games, budget)
		return r
	}, func(in batchInput, r result) {
		if r.err == nil {
			found.Add(r.Case)
		} else {
			found.Fail(in.path, r.err)
		}
		s.add(cmp.Or(r.err, errExplained))
		bar.set(int64(found.Files))
	})
	bar.done()
	found.Sort()
	found.Took = time.Since(s.from)
	if found.Desyncs > 0 {
		s.worst = &batchError{fmt.Sprintf("%s in %s, explained", count(found.Desyncs, "desync"), count(found.Files, "file")), errExplained}
	}
	return found, s.worst
}

// triageCase explains one file. A file of another kind, such as two recordings of one match, would become a case here.
func triageCase(in batchInput, games replay.Games, budget time.Duration) (desync.Case, error) {
	if in.err != nil {
		return desync.Case{}, in.err
	}
	f, err := in.open(in.path)
	if err != nil {
		return desync.Case{}, err
	}
	defer f.Close()
	e, err := explainBundle(f, games, desync.Options{Budget: budget, Fields: 1})
	if err != nil {
		return desync.Case{}, &fileError{in.path, err}
	}
	var written time.Time
	if info, err := os.Stat(in.path); err == nil {
		written = info.ModTime()
	}
	return e.Case(in.path, written), nil
}
