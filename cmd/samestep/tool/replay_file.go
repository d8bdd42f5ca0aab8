package tool

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A replayFile is an open file that should be a replay, or a bundle with a replay in it.
type replayFile struct {
	name   string
	file   *os.File       // the replay
	bundle *replay.Bundle // nil unless the file is a bundle
	outer  *os.File       // the file of the bundle; nil without one
}

// openReplay opens a file with open, such as [files.Open].
func openReplay(open func(string) (*os.File, error), name string) (*replayFile, error) {
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	f := &replayFile{name: name, file: file}
	bundle, extracted, err := unbundle(file)
	if extracted != nil {
		f.file, f.bundle, f.outer = extracted, bundle, file
	}
	if err != nil {
		f.close()
		return nil, f.error(err)
	}
	return f, nil
}

func (f *replayFile) close() {
	if f.bundle == nil {
		f.file.Close()
		return
	}
	discard(f.file)
	f.outer.Close()
}

// error adds the name of the file to err, unless err is nil or a usage error.
func (f *replayFile) error(err error) error {
	if err == nil || isUsage(err) {
		return err
	}
	return &fileError{f.name, err}
}

// reader returns a Reader at the beginning of the replay.
func (f *replayFile) reader() (*replay.Reader, error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	return replay.NewReader(f.file, info.Size())
}

// info reads the whole replay.
func (f *replayFile) info() (*replay.Info, error) {
	r, err := f.reader()
	if err != nil {
		return nil, err
	}
	return replay.ReadInfo(r)
}

// game reads the header, and returns the game that fits it. If the header can be read and no game fits, it returns the
// header and the reason.
func (f *replayFile) game() (*lockstep.Game, *lockstep.Header, error) {
	r, err := f.reader()
	if err != nil {
		return nil, nil, err
	}
	rec, err := r.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("no header: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	g, err := gameOf(rec.Header)
	return g, rec.Header, err
}

// watch returns a Reader with a progress bar, which done removes.
func (f *replayFile) watch(c *cli.Context) (r *replay.Reader, done func(), err error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	bar := newProgress(c.App.ErrWriter, info.Size(), "bytes")
	r, err = replay.NewReader(watchedFile{f.file, bar}, info.Size())
	return r, bar.done, err
}

// A watchedFile shows the position of its reader, for work that reads a file once and in one goroutine.
type watchedFile struct {
	*os.File
	bar *progress
}

// ReadAt implements [io.ReaderAt].
func (f watchedFile) ReadAt(p []byte, at int64) (int, error) {
	f.bar.set(at)
	return f.File.ReadAt(p, at)
}

// onReplay makes the action of a command whose only argument is a replay or a bundle.
func onReplay(act func(*cli.Context, *replayFile) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return withReplay(c.Args().First(), func(f *replayFile) error { return act(c, f) })
	}
}

// withReplay opens a file for act, and adds the file's name to the error.
func withReplay(name string, act func(*replayFile) error) error {
	f, err := openReplay(files.Open, name)
	if err != nil {
		return err
	}
	defer f.close()
	return f.error(act(f))
}

const maxBundleReplay = 1 << 30

// unbundle opens a bundle, and extracts its replay to a temporary file for discard. It returns nil for another file.
func unbundle(f *os.File) (*replay.Bundle, *os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var head [4]byte
	if n, err := f.ReadAt(head[:], 0); err != nil && err != io.EOF || string(head[:n]) != "PK\x03\x04" {
		return nil, nil, nil // the reader of a replay reports what is wrong
	}
	b, err := replay.OpenBundle(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	extracted, err := os.CreateTemp("", "samestep-*.ssr") // not in memory: it may be large
	if err != nil {
		return nil, nil, err
	}
	os.Remove(extracted.Name()) // so nothing is left over, however the program ends; Windows refuses it
	if err := b.CopyReplay(extracted, maxBundleReplay); err != nil {
		discard(extracted)
		return nil, nil, err
	}
	return b, extracted, nil
}

// discard closes a temporary file, and removes it if that was not possible before.
func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
