package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Mode is what the two sides are.
type Mode string

// The modes.
const (
	Versions  Mode = "versions"  // two versions of the sources
	Platforms Mode = "platforms" // one version on two platforms
	Again     Mode = "again"     // one version, and the same match again
	WarmCold  Mode = "warm-cold" // a simulation that came all the way, and one restored from the snapshot before the tick
	Checked   Mode = "check"     // the match of a failed check of package kit/locksteptest, and the way in which it was computed again
)

// A Result is what was compared, and what was found.
type Result struct {
	Mode     Mode          `json:"mode"`
	Sides    [2]string     `json:"sides"`
	Notes    []string      `json:"notes,omitempty"`    // how the sources differ from those that recorded the replay
	First    lockstep.Tick `json:"first"`              // the first tick that was computed, less one
	Last     lockstep.Tick `json:"last"`               // and the last
	Reported *Reported     `json:"reported,omitempty"` // of a bundle
	Tick     lockstep.Tick `json:"tick,omitempty"`     // the first whose results differ; 0 for none
	Fields   []Field       `json:"fields,omitempty"`
	Phase    string        `json:"phase,omitempty"`   // the part of Step in which the states began to differ, if it marks them
	Streams  []Stream      `json:"streams,omitempty"` // from which the sides drew differently in that part, or in the tick
	Panics   [2]string     `json:"panics"`            // of the rules, in the tick
	Endless  [2]*Endless   `json:"endless,omitzero"`  // of the sides that did not end the tick
	At       *Place        `json:"at,omitempty"`      // the last probe before a panic that is the same on both sides
	Finding  *Finding      `json:"finding,omitempty"`
	Data     []Datum       `json:"data,omitempty"`    // what differs before the match, if the finding is in no changed line
	Changed  []Change      `json:"changed,omitempty"` // the changed lines that ran, if the data do not explain the finding either
	Searched bool          `json:"-"`                 // the sources differ, and Changed has what ran of that

	Probes       int           `json:"probes"`
	Events       [2]int        `json:"events"`
	Dropped      int           `json:"dropped,omitempty"` // events beyond the limit of a recording
	Partial      int           `json:"partial,omitempty"` // calls that reach more than what was compared
	BuildSeconds float64       `json:"build_seconds"`
	RunSeconds   float64       `json:"run_seconds"`
	took         time.Duration // of the whole
}

// A search is the work of Find.
type search struct {
	Options
	file   *replay.File
	head   *lockstep.Header
	finder *Finder
	dir    string // the sources of side A
	repo   string // a folder in their repository, if they have one
	folder string
	assets string
	named  bool // the caller has named the tick
	result *Result
	ran    [2]map[int]bool // the probes that ran on the sides before the finding; nil without one

	innocent map[int]bool // sites that are passed over, if others differ; nil if not known
}

// Find compares two computations of the match in a file.
func Find(ctx context.Context, f *replay.File, o Options) (*Result, error) {
	x, err := NewFinder()
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Find(ctx, f, o)
}

// find compares two computations of the match in the file.
func (s *search) find(ctx context.Context) (*Result, error) {
	if s.Other != "" && s.Platform != "" {
		return nil, errors.New("line: want another version or another platform, not both")
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if b := s.file.Bundle(); b != nil && s.Other == "" && s.Platform == "" {
		s.result.Notes = append(s.result.Notes, proposeSides(s.head, &b.Manifest)...)
	}
	from, notes := time.Now(), s.result.Notes
	err := s.sides(ctx)
	if at := (*beforeError)(nil); errors.As(err, &at) {
		s.result, s.named, s.Tick = &Result{Notes: append(notes, at.Error()+": this is the first tick that differs")}, false, 0
		if err = s.sides(ctx); err == nil && s.result.Tick == 0 {
			err = fmt.Errorf("line: %w, but no tick differs when the match is computed again", at)
		}
	}
	s.result.took = time.Since(from)
	return s.result, err
}

// sides compares the two sides that the options name.
func (s *search) sides(ctx context.Context) error {
	switch {
	case s.Other != "" || s.Edits != nil && s.Platform == "":
		return s.versions(ctx)
	case s.Platform != "":
		return s.platforms(ctx)
	}
	return s.alone(ctx)
}

// prepare finds the sources of side A, and the assets.
func (s *search) prepare() error {
	if err := s.openSource(); err != nil {
		return err
	}
	tree := sourceTree{s.Source, s.repo, s.dir != s.repo, s.Other}
	s.result.Notes = tree.compare(s.head)
	return s.writeAssets()
}

// openSource finds the folder of side A's sources: they may be a revision of the repository around the current folder.
func (s *search) openSource() (err error) {
	s.repo = s.Source
	if info, wrong := os.Stat(s.Source); wrong != nil || !info.IsDir() {
		s.repo = "."
	}
	s.dir, err = s.finder.checkout(s.repo, s.Source)
	return err
}

// writeAssets writes the assets of the match to a folder for the programs.
func (s *search) writeAssets() error {
	if len(s.List) == 0 || s.Assets == nil {
		return nil
	}
	s.assets = filepath.Join(s.folder, "assets")
	if err := os.MkdirAll(s.assets, 0o700); err != nil {
		return err
	}
	for _, a := range s.List {
		b, err := s.Assets(a)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.assets, a.SHA256), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *search) side(name, dir string) *side {
	return s.finder.side(name, dir, s.Platform, s.head.Game)
}

// build builds sides at the same time.
func (s *search) build(ctx context.Context, sides ...*side) error {
	from := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range sides {
		if one.binary != "" {
			continue // for another file
		}
		group.Go(func() error {
			if one.failed == nil {
				one.failed = one.build(ctx, s.head.Game)
			}
			if err := one.failed; err != nil {
				return recordedBy(s.head, one.dir, err)
			}
			return nil
		})
	}
	err := group.Wait()
	s.result.BuildSeconds = time.Since(from).Seconds()
	if err == nil {
		s.result.Probes = len(sides[0].source.Sites)
		s.result.Notes = append(s.result.Notes, compareModule(s.head, sides[0])...)
	}
	return err
}

// log writes the records from the last keyframe up to a tick to a file, with what follows up to another tick.
func (s *search) log(name string, from, last lockstep.Tick) (string, error) {
	r, err := s.file.Reader()
	if err != nil {
		return "", err
	}
	if _, err := r.Seek(from); err != nil {
		return "", err
	}
	path := filepath.Join(s.folder, name)
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	for {
		one, err := r.Next()
		if one == nil || err != nil {
			if errors.As(err, new(*replay.DamageError)) || err == nil || isEnd(err) {
				return path, out.Close() // a torn replay is good up to there
			}
			return "", err
		}
		if _, err := out.Write(r.Record()); err != nil {
			return "", err
		}
		if last > 0 && one.Tick >= last && one.Kind != record.KindKeyframe {
			return path, out.Close()
		}
	}
}

// pair lets two sides do their jobs at the same time.
func (s *search) pair(ctx context.Context, name string, sides [2]*side, jobs [2]program.Job, env ...string) (done [2]*job, err error) {
	from := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i := range sides {
		group.Go(func() (err error) {
			done[i], err = sides[i].run(ctx, name+sides[i].name, jobs[i], env...)
			return err
		})
	}
	err = group.Wait()
	s.result.RunSeconds += time.Since(from).Seconds()
	return done, err
}
