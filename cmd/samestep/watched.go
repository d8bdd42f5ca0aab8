package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/replay"
)

// A watchedFile is a file that shows on a terminal how far it has been read. It
// is for work that reads a file once, from one goroutine.
type watchedFile struct {
	*os.File
	bar *progress
}

// ReadAt reads, and tells where.
func (f watchedFile) ReadAt(p []byte, at int64) (int, error) {
	f.bar.set(at)
	return f.File.ReadAt(p, at)
}

// watch returns a Reader whose progress is shown until done is called.
func (f *replayFile) watch(c *cli.Context) (r *replay.Reader, done func(), err error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	bar := newProgress(c.App.ErrWriter, info.Size(), "bytes")
	r, err = replay.NewReader(watchedFile{f.file, bar}, info.Size())
	return r, bar.done, err
}
