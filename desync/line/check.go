package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrCheck is wrapped by the errors of a test that does not fail again.
var ErrCheck = errors.New("line: the test, built with probes")

// Check builds a test with probes, runs it up to a check of package kit/locksteptest that has failed, and compares the
// two computations of the tick at which it failed.
func Check(ctx context.Context, o program.TestJob) (*Result, error) {
	folder, err := os.MkdirTemp("", "samestep-line-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	from := time.Now()
	s := &search{folder: folder, finder: finderIn(folder), head: &lockstep.Header{}, result: &Result{Mode: Checked}}
	a := s.side("A", o.Dir)
	if err := a.buildTest(ctx, &o); err != nil {
		return nil, err
	}
	s.result.BuildSeconds, s.result.Probes = time.Since(from).Seconds(), len(a.source.Sites)
	built := time.Now()
	done, err := a.runTest(ctx, &o)
	if err != nil {
		return nil, err
	}
	s.result.RunSeconds = time.Since(built).Seconds()
	r := &done.result
	s.head.StateSchema, s.Tick = r.Schema, lockstep.Tick(r.Tick)
	s.result.First, s.result.Last = s.Tick-1, s.Tick
	s.result.Sides = [2]string{"the match", wayOf(r)}
	var before map[string]lastWrite
	if !slices.Contains(program.SameWay, r.Phase) {
		before = a.lastWrites(r.Before)
	}
	b := *a
	b.name = "B"
	if s.innocent, err = a.innocent(done, r.Equal); err != nil {
		return nil, err
	}
	err = s.compare([2]*side{a, &b}, [2]*job{done, done}, [2]*program.Run{&r.Runs[0], &r.Runs[1]}, before)
	s.result.took = time.Since(from)
	return s.result, err
}

// wayOf says how the second computation was made.
func wayOf(r *program.Result) string {
	if r.From > 0 {
		return fmt.Sprintf("%s of tick %d", r.Phase, r.From)
	}
	return r.Phase
}

// buildTest weaves and builds a test.
func (s *side) buildTest(ctx context.Context, o *program.TestJob) error {
	p, err := s.read(weave.Options{Dir: o.Dir, Test: true, Tags: o.Tags, Overlay: o.Files})
	if err != nil {
		return err
	}
	return s.compile(ctx, p, "test", "-c", "-vet=off")
}

// runTest runs the test up to the check.
func (s *side) runTest(ctx context.Context, o *program.TestJob) (*job, error) {
	j := &job{}
	j.Folder = filepath.Join(s.folder, "check")
	if err := os.MkdirAll(j.Folder, 0o700); err != nil {
		return nil, err
	}
	o.Check.Folder = j.Folder
	path := filepath.Join(j.Folder, "job.json")
	if err := program.WriteJSON(path, &o.Check); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, s.binary, "-test.run="+o.Run, "-test.count=1")
	c.Dir = cmp.Or(o.Folder, o.Dir)
	c.Env = append(os.Environ(), program.CheckVariable+"="+path)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if readErr := program.ReadJSON(filepath.Join(j.Folder, program.ResultFile), &j.result); readErr != nil {
		if err != nil {
			return nil, fmt.Errorf("%w, fails otherwise: %w\n%s", ErrCheck, err, clipLines(string(out), 20))
		}
		return nil, fmt.Errorf("%w, does not come to a check with the same options", ErrCheck)
	}
	if j.result.Error != "" {
		return nil, fmt.Errorf("%w: %s", ErrCheck, strings.TrimSpace(j.result.Error))
	}
	return j, nil
}

// lastWrites returns the latest assignments in the ticks before, by name. all is in order.
func (s *side) lastWrites(all []program.Latest) map[string]lastWrite {
	before := map[string]lastWrite{}
	for _, l := range all {
		site := &s.source.Sites[l.Site]
		if site.Kind == weave.Write && !site.Local {
			before[site.Name] = lastWrite{site, l.Tick}
		}
	}
	return before
}
