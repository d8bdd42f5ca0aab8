//go:build !js

package replays

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

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

// open opens a recording: lines of JSON, or an imported match.
func (r *Recordings) open(name string) error {
	f, err := gameset.OpenReplay(name)
	if err != nil {
		return err
	}
	return r.Add(f, name)
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

// areRecordings reports whether files are to be compared as recordings: both of the first two are of another engine, and one
// of them is lines, or has more than commands, checksums and notes.
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

// IsRecording reports whether a file is of another engine, and a recording and not only imported. It returns of which match,
// if the recording says that.
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

// openRecordings opens all files.
func openRecordings(names []string) (*Recordings, error) {
	r := &Recordings{}
	for _, name := range names {
		if err := r.open(name); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// compareRecordings prints where the recordings of two machines differ. The first two files are of A and B.
func compareRecordings(c *cli.Context, names []string, tick *lockstep.Tick) error {
	r, err := openRecordings(names)
	if err != nil {
		return err
	}
	defer r.Close()
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
