//go:build !js

package desyncs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

// MaxRecordings is how many recordings of one match are compared with each other.
const MaxRecordings = 64

var (
	errNoMatch     = errors.New(`the header names no "match": compare it with replay bisect A B`)
	errLone        = errors.New("no other recording of its match can be read")
	errNoRecording = errors.New("not a recording of a match")
)

// groupMatches puts the recordings of each match into one input, at the place of the first one. It leaves out replays
// that are no recordings, unless an argument names them, and returns them.
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
		case known && len(b.Inputs[at].Match) == MaxRecordings:
			in.Err = fmt.Errorf("%w: more than %d recordings of match %q", replay.ErrLimit, MaxRecordings, match)
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

// recordedMatch reports whether a file is a recording of another engine, and returns of which match. It reads only the
// beginning.
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

// triageMatch compares the recordings of one match.
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
