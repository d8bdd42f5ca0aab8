package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A verification is the work of one Verify.
type verification struct {
	reader  *Reader
	game    *lockstep.Game
	options VerifyOptions
	survey  survey

	failed atomic.Int64 // the first stretch that did not come out right
	mutex  sync.Mutex   // of Progress
	done   lockstep.Tick
}

// A stretch is what one worker verifies: from one mark up to another.
type stretch struct {
	from    mark
	to      *mark // nil for the end of the file
	verdict Verdict
}

// Stretches for each worker, so that none waits long for the last one.
const stretchesPerWorker = 8

func (p *verification) run() (*Verdict, error) {
	workers := cmp.Or(p.options.Workers, runtime.GOMAXPROCS(0))
	stretches := p.stretches(workers)
	total := &Verdict{}
	if workers > 1 && len(stretches) > 1 {
		done := p.parallel(stretches, workers)
		for i := range done {
			total.add(&stretches[i].verdict)
		}
		if done == len(stretches) {
			return total, nil
		}
		stretches = stretches[done:]
		p.done = total.Ticks - p.survey.marks[0].tick
	}
	return p.inOrder(stretches[0].from, total)
}

// stretches divides the file.
func (p *verification) stretches(workers int) []stretch {
	marks := p.survey.marks
	n := min(len(marks), workers*stretchesPerWorker)
	all := make([]stretch, n)
	for i := range all {
		all[i].from = marks[i*len(marks)/n]
		if i > 0 {
			all[i-1].to = &all[i].from
		}
	}
	return all
}

// parallel verifies stretches at the same time, and returns how many from the
// beginning on are true. The one before the first that is not true does not
// count, as the fault may be in the keyframe between them.
func (p *verification) parallel(all []stretch, workers int) int {
	p.failed.Store(int64(len(all)))
	var group errgroup.Group
	group.SetLimit(workers)
	for i := range all {
		group.Go(func() error {
			if err := p.stretch(&all[i], i); err != nil {
				for at := p.failed.Load(); int64(i) < at && !p.failed.CompareAndSwap(at, int64(i)); at = p.failed.Load() {
				}
			}
			return nil
		})
	}
	group.Wait()
	if failed := int(p.failed.Load()); failed < len(all) {
		return max(failed-1, 0)
	}
	return len(all)
}

// errAside ends a stretch that cannot be verified by itself.
var errAside = errors.New("not to be verified by itself")

// stretch verifies one stretch, up to the keyframe that the next begins with.
func (p *verification) stretch(s *stretch, i int) error {
	r, err := NewReader(p.reader.r, p.reader.size)
	if err == nil && i > 0 {
		err = r.seek(s.from)
	}
	if err != nil {
		return err
	}
	f := p.game.NewFollower(lockstep.FollowerOptions{})
	for reported := s.from.tick; ; {
		rec, err := r.Next()
		if err == io.EOF {
			s.verdict.Header, s.verdict.Ticks = f.Header(), f.Tick()
			s.verdict.Checked += f.Checked()
			p.progress(f.Tick() - reported)
			return nil
		}
		if err != nil {
			return err
		}
		if i > 0 && (rec.Kind == lockstep.RecordChecksum || rec.Kind == lockstep.RecordKeyframe) && rec.Tick < s.from.tick {
			return errAside // the state that it is of was before the stretch
		}
		first := f.Simulation() == nil
		if err := apply(f, r, rec); err != nil {
			return err
		}
		if i > 0 && first && f.Simulation() != nil {
			s.verdict.Checked-- // the stretch before counts it
			continue
		}
		if s.to != nil && rec.Kind == lockstep.RecordKeyframe && rec.Tick == s.to.tick {
			s.verdict.Header, s.verdict.Ticks = f.Header(), f.Tick()
			s.verdict.Checked += f.Checked()
			p.progress(f.Tick() - reported)
			return nil
		}
		s.verdict.count(rec)
		if f.Tick() >= reported+progressTicks {
			p.progress(f.Tick() - reported)
			reported = f.Tick()
			if int64(i) > p.failed.Load() {
				return errAside
			}
		}
	}
}

// progressTicks is how often a worker tells of its progress.
const progressTicks = 256

func (p *verification) progress(ticks lockstep.Tick) {
	if p.options.Progress == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += ticks
	p.options.Progress(p.done, p.survey.last-p.survey.marks[0].tick)
}

// inOrder verifies from a mark to the end of the file and adds it to v.
func (p *verification) inOrder(from mark, v *Verdict) (*Verdict, error) {
	r, err := NewReader(p.reader.r, p.reader.size)
	if err == nil && from != p.survey.marks[0] {
		err = r.seek(from)
	}
	if err != nil {
		return v, err
	}
	f := p.game.NewFollower(lockstep.FollowerOptions{})
	again := v.Checked // before this
	if again > 0 {
		again-- // the keyframe to begin with is counted already
	}
	reported := from.tick
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = apply(f, r, rec)
			v.count(rec)
		}
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) {
			v.Differed++
			if v.First == nil {
				v.First = desync
			}
			if p.options.KeepGoing {
				err = nil
			}
		}
		v.Header, v.Checked = f.Header(), again+f.Checked()
		v.Ticks = f.Tick()
		if err != nil {
			return v, err
		}
		if v.Ticks >= reported+progressTicks {
			p.progress(v.Ticks - reported)
			reported = v.Ticks
		}
	}
	if v.First != nil {
		return v, v.First
	}
	return v, nil
}

// apply applies a record, and finds a keyframe whose state is not the one that
// its checksum is of: nothing that follows would tell.
func apply(f *lockstep.Follower, r *Reader, rec *lockstep.Record) error {
	first := f.Simulation() == nil
	if err := f.Apply(rec); err != nil {
		return err
	}
	if rec.Kind == lockstep.RecordKeyframe && !first && rec.Tick == f.Tick() {
		if own := f.Simulation().AppendState(nil); string(own) != string(rec.Keyframe.State) {
			return r.damage(fmt.Errorf("%w: keyframe of tick %d: its state is not the one that its checksum is of", ErrCorrupt, rec.Tick))
		}
	}
	return nil
}

// add joins the verdict of the next stretch.
func (v *Verdict) add(next *Verdict) {
	v.Header, v.Ticks = next.Header, next.Ticks
	v.Commands += next.Commands
	v.Checked += next.Checked
	v.Dissents += next.Dissents
	v.Ended, v.Reason = next.Ended, next.Reason
}
