//go:build !js

package replays

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/replay"
)

// JobsFlag says on how many files a verb works at a time.
var JobsFlag = &cli.IntFlag{Name: "jobs", Usage: "with several files, process `N` at a time", DefaultText: "one for each processor"}

const batchHelp = `

Several files, or a FOLDER with the *.ssr files in it and below it, give one line
each, with --json one line of JSON each. All files are tried, and the exit code is
that of the worst. The logs in a server's folder "live" are not over, and left out.`

// LiveFolder is the folder with the logs of matches that a server has not ended yet; see package server.
const LiveFolder = "live"

// The extensions of files in folders.
const (
	ReplayExtension = ".ssr"
	BundleExtension = ".zip"
	LinesExtension  = ".jsonl" // of matches of other engines; and packed
	PackedExtension = ".jsonl.gz"
)

// A Batch is a verb's work on several files.
type Batch struct {
	Inputs []BatchInput
	Jobs   int
}

// A BatchInput is one file of a batch.
type BatchInput struct {
	Path string
	rel  string // the path below the folder of the argument, or the last element of a file's path
	Open func(string) (*replay.File, error)
	Err  error // why a folder or the file could not be read

	Match []BatchInput // recordings of one match of another engine, which are compared with each other; nil for one file
}

// A BatchRow is what a verb found in one file.
type BatchRow struct {
	value any    // printed with --json, besides the file's name; nil if Err says all
	text  string // for people, if Err is nil
	Err   error
	used  []gameset.UsedRules // set by run
}

// IsBatch reports whether arguments are several files, or a folder.
func IsBatch(args []string) bool { return len(args) > 1 || len(args) == 1 && gameset.IsFolder(args[0]) }

// NewBatch finds the files that arguments name, and the ones with one of the extensions in folders.
func NewBatch(c *cli.Context, args []string, extensions ...string) (*Batch, error) {
	if c.Value(JobsFlag.Name) != nil {
		if err := console.Between(c, JobsFlag.Name, 0, 0); err != nil {
			return nil, err
		}
	}
	b := &Batch{}
	for _, name := range args {
		if !gameset.IsFolder(name) {
			b.Inputs = append(b.Inputs, BatchInput{Path: name, rel: filepath.Base(name), Open: gameset.OpenReplay})
			continue
		}
		before, live := len(b.Inputs), ""
		filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error { // in the order of the names
			switch {
			case err != nil:
				b.Inputs = append(b.Inputs, BatchInput{Path: path, Err: err})
			case d.IsDir() && d.Name() == LiveFolder && path != name:
				live = path
				return fs.SkipDir
			case d.Type().IsRegular() && HasExtension(path, extensions):
				rel, err := filepath.Rel(name, path)
				b.Inputs = append(b.Inputs, BatchInput{Path: path, rel: rel, Open: replay.OpenNoFollow, Err: err})
			}
			return nil // a folder that cannot be read is a row
		})
		if len(b.Inputs) == before && live != "" {
			return nil, fmt.Errorf("%s: no *%s files in this folder outside of %s, whose matches are not over; name a file of it", name, strings.Join(extensions, " or *"), live)
		}
		if len(b.Inputs) == before {
			return nil, fmt.Errorf("%s: no *%s files in this folder", name, strings.Join(extensions, " or *"))
		}
	}
	b.Jobs = min(cmp.Or(c.Int(JobsFlag.Name), runtime.GOMAXPROCS(0)), len(b.Inputs))
	return b, nil
}

// HasExtension reports whether a name ends with one of the extensions.
func HasExtension(path string, extensions []string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
}

// run lets work look at each file, several at a time, prints the rows in the order of the files, and returns the worst error.
func (b *Batch) run(c *cli.Context, work func(*replay.File, BatchInput) BatchRow) error {
	s := BatchSum{From: time.Now(), Classes: map[string]int{}}
	var werr error
	own := func(f *replay.File, in BatchInput) BatchRow {
		if m := gameset.ModulesOf(c); m != nil {
			defer m.Forget(f)
			row := work(f, in)
			row.Err, row.used = m.Exceeded(row.Err, f), m.UsedSoFar(f)
			return row
		}
		return work(f, in)
	}
	InOrder(b, func(in BatchInput) BatchRow { return in.Run(own) }, func(in BatchInput, row BatchRow) {
		s.Add(row.Err)
		if werr == nil {
			werr = row.print(c, in.Path)
		}
	})
	return cmp.Or(werr, s.print(c, len(b.Inputs)))
}

// InOrder lets work look at each file, several at a time, and gives the results to take in the order of the files.
func InOrder[R any](b *Batch, work func(BatchInput) R, take func(BatchInput, R)) {
	type task struct {
		input  BatchInput
		result chan R
	}
	todo, order := make(chan task), make(chan task, 4*b.Jobs) // later results wait for an earlier one, and the channel bounds them
	for range b.Jobs {
		go func() {
			for t := range todo {
				t.result <- work(t.input)
			}
		}()
	}
	go func() {
		defer close(todo)
		defer close(order)
		for _, in := range b.Inputs {
			t := task{in, make(chan R, 1)}
			order <- t
			todo <- t
		}
	}()
	for t := range order {
		take(t.input, <-t.result)
	}
}

// Run opens the file for act, and keeps which rules were used.
func (in BatchInput) Run(work func(*replay.File, BatchInput) BatchRow) BatchRow {
	if in.Err != nil {
		return BatchRow{Err: in.Err}
	}
	f, err := in.Open(in.Path)
	if err != nil {
		return BatchRow{Err: err}
	}
	defer f.Close()
	row := work(f, in)
	row.Err = gameset.OfFile(in.Path, row.Err)
	return row
}

func (row BatchRow) print(c *cli.Context, path string) error {
	if c.Bool("json") {
		value := row.value
		if value == nil {
			value = struct {
				Class string `json:"class"`
				Error string `json:"error"`
			}{batchClass(row.Err), row.Err.Error()}
		}
		b, err := gameset.WithRules(value, row.used)
		if err != nil {
			return err
		}
		name, err := json.Marshal(path) // in front of the verb's own
		if err != nil {
			return err
		}
		return console.WriteLine(c.App.Writer, json.RawMessage(slices.Concat([]byte(`{"file":`), name, []byte(","), b[1:])))
	}
	text := path + ": " + row.text
	if row.Err != nil {
		text = row.Err.Error()
	}
	_, err := fmt.Fprintf(c.App.Writer, "%-11s %s\n", batchClass(row.Err), strings.ReplaceAll(text, "\n", "; "))
	return err
}

// batchClass returns the class of a file, or "failed" if the error says nothing about the file.
func batchClass(err error) string { return cmp.Or(string(console.ClassOf(err)), "failed") }

// A BatchSum counts rows by class, and keeps the worst error.
type BatchSum struct {
	From    time.Time
	Classes map[string]int
	bad     int
	Worst   error
}

// badness orders exit codes: later ones are worse.
var badness = []int{console.ExitOK, console.ExitUnsupported, console.ExitIdentity, console.ExitError, console.ExitUsage, console.ExitCorrupt, console.ExitDesync}

// Add prints a row, and keeps the worst error.
func (s *BatchSum) Add(err error) {
	s.Classes[batchClass(err)]++
	if console.ExitCode(err) == console.ExitOK {
		return
	}
	s.bad++
	if s.Worst == nil || slices.Index(badness, console.ExitCode(err)) > slices.Index(badness, console.ExitCode(s.Worst)) {
		s.Worst = err
	}
}

// print tells people how many files are of each class. It returns the worst error.
func (s *BatchSum) print(c *cli.Context, all int) error {
	if !c.Bool("json") {
		var parts []string
		for class, n := range s.Classes {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
		slices.Sort(parts)
		if _, err := fmt.Fprintf(c.App.Writer, "%s in %s: %s\n", console.Count(all, "file"), console.Seconds(time.Since(s.From)), strings.Join(parts, ", ")); err != nil {
			return err
		}
	}
	if s.bad <= 1 || s.Worst == nil || console.IsUsage(s.Worst) {
		return s.Worst
	}
	return fmt.Errorf("%d of %s are bad; the worst: %w", s.bad, console.Count(all, "file"), s.Worst)
}

// onReplays makes the action of a command that reads one replay or several.
func onReplays(one func(*cli.Context, *replay.File) error, many func(*cli.Context, *Batch) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args := c.Args().Slice()
		if !IsBatch(args) {
			return gameset.OnReplay(one)(c)
		}
		b, err := NewBatch(c, args, ReplayExtension)
		if err != nil {
			return err
		}
		return many(c, b)
	}
}
