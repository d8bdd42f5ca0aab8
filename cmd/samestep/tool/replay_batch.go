//go:build !js

package tool

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

var jobsFlag = &cli.IntFlag{Name: "jobs", Usage: "of several files, work on `N` at a time (default: one for each processor)"}

const batchHelp = `

Several files, or a FOLDER with the *.ssr files in it and below it, give one line
each, with --json one line of JSON each. All files are tried, and the exit code is
that of the worst. The logs in a server's folder "live" are not over, and left out.`

// liveFolder is the folder with the logs of matches that a server has not ended yet; see package server.
const liveFolder = "live"

// The extensions of files in folders.
const (
	replayExtension = ".ssr"
	bundleExtension = ".zip"
	linesExtension  = ".jsonl" // of matches of other engines; and packed
	packedExtension = ".jsonl.gz"
)

// A batch is a verb's work on several files.
type batch struct {
	inputs []batchInput
	jobs   int
}

// A batchInput is one file of a batch.
type batchInput struct {
	path string
	rel  string // the path below the folder of the argument, or the last element of a file's path
	open func(string) (*replay.File, error)
	err  error // why a folder or the file could not be read

	match []batchInput // recordings of one match of another engine, which are compared with each other; nil for one file
}

// A batchRow is what a verb found in one file.
type batchRow struct {
	value any    // printed with --json, besides the file's name; nil if err says all
	text  string // for people, if err is nil
	err   error

	used []gameset.UsedRules // set by run
}

// isBatch reports whether arguments are several files, or a folder.
func isBatch(args []string) bool { return len(args) > 1 || len(args) == 1 && gameset.IsFolder(args[0]) }

// newBatch finds the files that arguments name, and the ones with one of the extensions in folders.
func newBatch(c *cli.Context, args []string, extensions ...string) (*batch, error) {
	if c.Value(jobsFlag.Name) != nil {
		if err := console.Between(c, jobsFlag.Name, 0, 0); err != nil {
			return nil, err
		}
	}
	b := &batch{}
	for _, name := range args {
		if !gameset.IsFolder(name) {
			b.inputs = append(b.inputs, batchInput{path: name, rel: filepath.Base(name), open: gameset.OpenReplay})
			continue
		}
		before := len(b.inputs)
		b.addFolder(name, extensions)
		if len(b.inputs) == before {
			return nil, fmt.Errorf("%s: no *%s files in this folder", name, strings.Join(extensions, " or *"))
		}
	}
	b.jobs = min(cmp.Or(c.Int(jobsFlag.Name), runtime.GOMAXPROCS(0)), len(b.inputs))
	return b, nil
}

// addFolder adds the files with one of the extensions in and below a folder, in the order of their names.
func (b *batch) addFolder(root string, extensions []string) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			b.inputs = append(b.inputs, batchInput{path: path, err: err})
		case d.IsDir() && d.Name() == liveFolder && path != root:
			return fs.SkipDir
		case d.Type().IsRegular() && hasExtension(path, extensions):
			rel, err := filepath.Rel(root, path)
			b.inputs = append(b.inputs, batchInput{path: path, rel: rel, open: replay.OpenNoFollow, err: err})
		}
		return nil // a folder that cannot be read is a row
	})
}

func hasExtension(path string, extensions []string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
}

// workers returns how many goroutines may work on one file.
func (b *batch) workers() int { return max(1, runtime.GOMAXPROCS(0)/b.jobs) }

// run lets work look at each file, several at a time, and prints the rows in the order of the files. The error is that of
// the worst file.
func (b *batch) run(c *cli.Context, work func(*replay.File, batchInput) batchRow) error {
	s := batchSum{from: time.Now(), classes: map[string]int{}}
	var werr error
	own := func(f *replay.File, in batchInput) batchRow {
		if m := gameset.ModulesOf(c); m != nil {
			defer m.Forget(f)
			row := work(f, in)
			row.err, row.used = m.Exceeded(row.err, f), m.UsedSoFar(f)
			return row
		}
		return work(f, in)
	}
	inOrder(b, func(in batchInput) batchRow { return in.run(own) }, func(in batchInput, row batchRow) {
		s.add(row.err)
		if werr == nil {
			werr = row.print(c, in.path)
		}
	})
	return cmp.Or(werr, s.print(c, len(b.inputs)))
}

// inOrder lets work look at each file, several at a time, and gives the results to take in the order of the files.
func inOrder[R any](b *batch, work func(batchInput) R, take func(batchInput, R)) {
	type task struct {
		input  batchInput
		result chan R
	}
	todo, order := make(chan task), make(chan task, 4*b.jobs) // later results wait for an earlier one, and the channel bounds them
	for range b.jobs {
		go func() {
			for t := range todo {
				t.result <- work(t.input)
			}
		}()
	}
	go func() {
		defer close(todo)
		defer close(order)
		for _, in := range b.inputs {
			t := task{in, make(chan R, 1)}
			order <- t
			todo <- t
		}
	}()
	for t := range order {
		take(t.input, <-t.result)
	}
}

func (in batchInput) run(work func(*replay.File, batchInput) batchRow) batchRow {
	if in.err != nil {
		return batchRow{err: in.err}
	}
	f, err := in.open(in.path)
	if err != nil {
		return batchRow{err: err}
	}
	defer f.Close()
	row := work(f, in)
	row.err = gameset.OfFile(in.path, row.err)
	return row
}

// print writes the row as one line.
func (row batchRow) print(c *cli.Context, path string) error {
	if c.Bool("json") {
		return row.printJSON(c, path)
	}
	text := path + ": " + row.text
	if row.err != nil {
		text = row.err.Error()
	}
	_, err := fmt.Fprintf(c.App.Writer, "%-11s %s\n", batchClass(row.err), strings.ReplaceAll(text, "\n", "; "))
	return err
}

// printJSON writes the JSON of the verb's value with the file's name in front.
func (row batchRow) printJSON(c *cli.Context, path string) error {
	value := row.value
	if value == nil {
		value = struct {
			Class string `json:"class"`
			Error string `json:"error"`
		}{batchClass(row.err), errorText(row.err)}
	}
	b, err := gameset.WithRules(value, row.used)
	if err != nil {
		return err
	}
	name, err := json.Marshal(path)
	if err != nil {
		return err
	}
	return console.WriteLine(c.App.Writer, json.RawMessage(slices.Concat([]byte(`{"file":`), name, []byte(","), b[1:])))
}

// batchClass returns the class of a file, or "failed" if the error says nothing about the file.
func batchClass(err error) string { return cmp.Or(string(console.ClassOf(err)), "failed") }

// A batchSum counts rows by class, and keeps the worst error.
type batchSum struct {
	from    time.Time
	classes map[string]int
	bad     int
	worst   error
}

// badness orders exit codes: later ones are worse.
var badness = []int{console.ExitOK, console.ExitUnsupported, console.ExitIdentity, console.ExitError, console.ExitUsage, console.ExitCorrupt, console.ExitDesync}

func (s *batchSum) add(err error) {
	s.classes[batchClass(err)]++
	if console.ExitCode(err) == console.ExitOK {
		return
	}
	s.bad++
	if s.worst == nil || slices.Index(badness, console.ExitCode(err)) > slices.Index(badness, console.ExitCode(s.worst)) {
		s.worst = err
	}
}

// print tells people how many files are of each class. It returns the worst error.
func (s *batchSum) print(c *cli.Context, all int) error {
	if !c.Bool("json") {
		var parts []string
		for class, n := range s.classes {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
		slices.Sort(parts)
		if _, err := fmt.Fprintf(c.App.Writer, "%s in %s: %s\n", console.Count(all, "file"), console.Seconds(time.Since(s.from)), strings.Join(parts, ", ")); err != nil {
			return err
		}
	}
	if s.bad <= 1 || s.worst == nil || console.IsUsage(s.worst) {
		return s.worst
	}
	return &batchError{fmt.Sprintf("%d of %s are bad; the worst: %v", s.bad, console.Count(all, "file"), s.worst), s.worst}
}

// A batchError is the worst error of several.
type batchError struct {
	text  string
	worst error
}

func (e *batchError) Error() string { return e.text }

func (e *batchError) Unwrap() error { return e.worst }

// onReplays makes the action of a command that reads one replay or several.
func onReplays(one func(*cli.Context, *replay.File) error, many func(*cli.Context, *batch) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args := c.Args().Slice()
		if !isBatch(args) {
			return gameset.OnReplay(one)(c)
		}
		b, err := newBatch(c, args, replayExtension)
		if err != nil {
			return err
		}
		return many(c, b)
	}
}

// noFlags returns a usage error if a flag is set that only one file can have.
func noFlags(c *cli.Context, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) {
			return console.Usagef("--%s takes one file, and no folder", name)
		}
	}
	return nil
}
