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
)

// A Result is what was compared, and what was found.
type Result struct {
	Mode    Mode          `json:"mode"`
	Sides   [2]string     `json:"sides"`
	First   lockstep.Tick `json:"first"`          // the first tick that was computed, less one
	Last    lockstep.Tick `json:"last"`           // and the last
	Tick    lockstep.Tick `json:"tick,omitempty"` // the first whose results differ; 0 for none
	Fields  []Field       `json:"fields,omitempty"`
	Phase   string        `json:"phase,omitempty"` // the part of Step in which the states began to differ, if it marks them
	Panics  [2]string     `json:"panics"`          // of the rules, in the tick
	Finding *Finding      `json:"finding,omitempty"`

	Probes       int           `json:"probes"`
	Events       [2]int        `json:"events"`
	Dropped      int           `json:"dropped,omitempty"` // events beyond the limit of a recording
	BuildSeconds float64       `json:"build_seconds"`
	RunSeconds   float64       `json:"run_seconds"`
	took         time.Duration // of the whole
}

// ErrReplay is wrapped by the errors of a replay that no rules can compute.
var ErrReplay = errors.New("line: the match cannot be computed")

// A search is the work of Find.
type search struct {
	Options
	file   *replay.File
	game   string
	folder string
	assets string
	result *Result
}

// Find compares two computations of the match in a file.
func Find(ctx context.Context, f *replay.File, o Options) (*Result, error) {
	folder, err := os.MkdirTemp("", "samestep-line-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	s, err := newSearch(f, folder, o)
	if err != nil {
		return nil, err
	}
	from := time.Now()
	switch {
	case o.Other != "" && o.Platform != "":
		return nil, errors.New("line: want another version or another platform, not both")
	case o.Other != "" || o.Edits != nil && o.Platform == "":
		err = s.versions(ctx)
	case o.Platform != "":
		err = s.platforms(ctx)
	default:
		err = s.alone(ctx)
	}
	s.result.took = time.Since(from)
	return s.result, err
}

// newSearch returns a search that keeps its files in a folder.
func newSearch(f *replay.File, folder string, o Options) (*search, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	if h.Engine == replay.ForeignEngine {
		return nil, fmt.Errorf("%w: it was imported from another engine", ErrReplay)
	}
	if o.Source == "" {
		o.Source = "."
	}
	s := &search{Options: o, file: f, game: h.Game, folder: folder, result: &Result{}}
	return s, s.writeAssets()
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
	return &side{name: name, dir: dir, folder: filepath.Join(s.folder, name)}
}

// build builds sides at the same time.
func (s *search) build(ctx context.Context, sides ...*side) error {
	from := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range sides {
		group.Go(func() error {
			if err := one.build(ctx, s.game); err != nil {
				return fmt.Errorf("%w (%s)", err, one.dir)
			}
			return nil
		})
	}
	err := group.Wait()
	s.result.BuildSeconds = time.Since(from).Seconds()
	if err == nil {
		s.result.Probes = len(sides[0].source.Sites)
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
