//go:build !js

package gameset

import (
	"cmp"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// GameIn returns the game that fits the header of a file. If the header can be read and no game fits, it returns the
// header and the reason.
func GameIn(c *cli.Context, f *replay.File) (*lockstep.Game, *lockstep.Header, error) {
	h, err := f.Header()
	if err != nil {
		return nil, nil, err
	}
	games, err := GamesFor(c, f)
	if err != nil {
		return nil, h, err
	}
	g, err := games.Of(h)
	return g, h, err
}

// Watched returns a Reader with a progress bar, which done removes.
func Watched(c *cli.Context, f *replay.File) (r *replay.Reader, done func(), err error) {
	content, size, err := f.Content()
	if err != nil {
		return nil, nil, err
	}
	bar := console.NewProgress(c.App.ErrWriter, size, "bytes")
	r, err = replay.NewReader(watchedFile{content, bar}, size)
	return r, bar.Done, err
}

// A watchedFile shows the position of its reader, for work that reads a file once and in one goroutine.
type watchedFile struct {
	io.ReaderAt
	bar *console.Progress
}

// ReadAt implements [io.ReaderAt].
func (f watchedFile) ReadAt(p []byte, at int64) (int, error) {
	f.bar.Set(at)
	return f.ReaderAt.ReadAt(p, at)
}

// OpenReplay opens a replay or a bundle, or lines of a match of another engine as a replay.
func OpenReplay(name string) (*replay.File, error) { return OpenWith(replay.Open, name) }

// OpenWith is OpenReplay with another function that opens the file.
func OpenWith(open func(string) (*replay.File, error), name string) (*replay.File, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if err := matchlines.ConvertLines(f); err != nil {
		f.Close()
		return nil, &console.FileError{Name: name, Err: err}
	}
	return f, nil
}

// OnReplay makes the action of a command whose only argument is a replay or a bundle.
func OnReplay(act func(*cli.Context, *replay.File) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return WithReplay(c.Args().First(), func(f *replay.File) error { return act(c, f) })
	}
}

// WithReplay opens a file for act, and adds the file's name to the error.
func WithReplay(name string, act func(*replay.File) error) error {
	f, err := OpenReplay(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return OfFile(name, act(f))
}

// OfFile adds the name of a file to err, unless err is nil or a usage error.
func OfFile(name string, err error) error {
	if err == nil || console.IsUsage(err) {
		return err
	}
	return &console.FileError{Name: name, Err: err}
}

// A result is what a verb has found, which a game's own program can print, too.
type result interface{ WriteText(io.Writer) error }

// Report prints a result, as JSON with --json, and returns the error of printing or else err.
func Report(c *cli.Context, r result, err error) error {
	var werr error
	err = Tell(c, r, func(w io.Writer) { werr = r.WriteText(w) }, err)
	if err != nil && console.ClassOf(err) == replay.ClassSuspended {
		err = nil // the result says so, and nothing has failed
	}
	return cmp.Or(werr, err)
}

// GameOf returns the game of the match in a file, with the assets of --assets, if the program that runs a verb has it, or a module of
// its rules.
func GameOf(c *cli.Context, f *replay.File) (*lockstep.Game, error) {
	if m := ModulesOf(c); m != nil {
		defer m.Forget(f)
	}
	g, _, err := GameIn(c, f)
	return g, err
}
