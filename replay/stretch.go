package replay

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A verifier runs one Verify.
type verifier struct {
	reader  *Reader
	game    *lockstep.Game
	options VerifyOptions
	survey  survey

	plan  *plan      // of several workers
	mutex sync.Mutex // of Progress
	done  lockstep.Tick
}

// A stretch is the shortest part that a worker can verify by itself: from one mark up to the next.
type stretch struct {
	from    mark
	to      *mark // nil for the end of the file
	counted Verification
}

func (p *verifier) run() (*Verification, error) {
	workers := cmp.Or(p.options.Workers, min(runtime.GOMAXPROCS(0), maxWorkers/p.survey.memory()))
	stretches := p.stretches()
	total := &Verification{}
	if workers > 1 && len(stretches) > 1 {
		done := p.parallel(stretches, workers)
		for i := range done {
			total.add(&stretches[i].counted)
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
func (p *verifier) stretches() []stretch {
	all := make([]stretch, len(p.survey.marks))
	for i := range all {
		all[i].from = p.survey.marks[i]
		if i > 0 {
			all[i-1].to = &all[i].from
		}
	}
	return all
}

// parallel verifies stretches concurrently, and returns how many from the beginning on are right. The one before the
// first wrong one does not count, as the fault may be in the keyframe between them.
func (p *verifier) parallel(all []stretch, workers int) int {
	p.plan = newPlan(len(all), workers)
	var group sync.WaitGroup
	for w := range p.plan.left {
		group.Go(func() {
			for i, ok := p.plan.take(w); ok; i, ok = p.plan.steal(w) {
				p.walk(all, i, w)
			}
		})
	}
	group.Wait()
	if p.plan.end < len(all) {
		return max(p.plan.end-1, 0)
	}
	return len(all)
}

// walk verifies the stretches from stretch i on, each up to the keyframe of the next, while its worker has more.
func (p *verifier) walk(all []stretch, i, worker int) {
	r, err := p.reader.Reopen()
	if err == nil && i > 0 {
		err = r.seek(all[i].from)
	}
	if err != nil {
		p.plan.fail(i)
		return
	}
	f := p.game.NewFollower(lockstep.FollowerOptions{})
	w := &walker{p: p, r: r, f: f, begin: all[i].from.tick, later: i > 0, reported: all[i].from.tick}
	for ok := true; ok; i, ok = p.plan.take(worker) {
		if err := w.stretch(&all[i], i); err != nil {
			p.plan.fail(i)
			return
		}
	}
}

// A walker verifies stretches in order.
type walker struct {
	p        *verifier
	r        *Reader
	f        *lockstep.Follower
	begin    lockstep.Tick // where it began
	later    bool          // not at the beginning of the match
	reported lockstep.Tick // last reported progress
	checked  int           // by the follower, in stretches before
}

// errAside ends a stretch that a worker cannot verify by itself.
var errAside = errors.New("not to be verified by itself")

// stretch verifies one stretch, up to the keyframe of the next.
func (w *walker) stretch(s *stretch, i int) error {
	for rec, err := range w.r.All() {
		if err != nil {
			return err
		}
		if w.later && (rec.Kind == record.KindChecksum || rec.Kind == record.KindKeyframe) && rec.Tick < w.begin {
			return errAside // of a state before the walk
		}
		if rec.Kind == record.KindPanic {
			return errAside // it is to come again in a state that was computed as in the match
		}
		first := w.f.Simulation() == nil
		if err := apply(w.f, w.r, rec); err != nil {
			return err
		}
		if w.later && first && w.f.Simulation() != nil {
			w.checked++ // the stretch before counts it
			continue
		}
		if s.to != nil && rec.Kind == record.KindKeyframe && rec.Tick == s.to.tick {
			if _, ended := w.f.Simulation().Ended(); ended {
				return errAside // the next stretch cannot know, and would not compare the end
			}
			w.finish(s)
			return nil
		}
		s.counted.count(rec)
		if w.f.Tick() >= w.reported+progressTicks {
			w.progress()
			if !w.p.plan.needs(i) {
				return errAside
			}
		}
	}
	w.finish(s)
	return nil
}

// finish completes the counts of a stretch.
func (w *walker) finish(s *stretch) {
	s.counted.Header, s.counted.Ticks = w.f.Header(), w.f.Tick()
	s.counted.Checked += w.f.Checked() - w.checked
	w.checked = w.f.Checked()
	w.progress()
}

func (w *walker) progress() {
	w.p.progress(w.f.Tick() - w.reported)
	w.reported = w.f.Tick()
}

// progressTicks is the number of ticks between two reports of progress.
const progressTicks = 256

func (p *verifier) progress(ticks lockstep.Tick) {
	if p.options.Progress == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += ticks
	p.options.Progress(p.done, p.survey.last-p.survey.marks[0].tick)
}

// inOrder verifies from a mark to the end of the file and adds the result to v.
func (p *verifier) inOrder(from mark, v *Verification) (*Verification, error) {
	r, err := p.reader.Reopen()
	if err == nil && from != p.survey.marks[0] {
		err = r.seek(from)
	}
	if err != nil {
		return v, err
	}
	f := p.game.NewFollower(lockstep.FollowerOptions{})
	again := v.Checked // before this
	if again > 0 {
		again-- // the first keyframe is counted already
	}
	reported := from.tick
	for rec, err := range r.All() {
		if err == nil {
			err = v.apply(f, r, rec, p.options.KeepGoing)
		}
		v.Header, v.Checked = f.Header(), again+f.Checked()
		v.Ticks = f.Tick()
		if err != nil {
			return v, v.found(err)
		}
		if v.Ticks >= reported+progressTicks {
			p.progress(v.Ticks - reported)
			reported = v.Ticks
		}
	}
	return v, v.found(nil)
}

// apply applies a record and counts the result. A checksum that differs is an error, unless the verification keeps
// going.
func (v *Verification) apply(f *lockstep.Follower, r *Reader, rec *record.Record, keepGoing bool) error {
	err := v.panicked(f, rec, apply(f, r, rec))
	v.count(rec)
	var desync *lockstep.DesyncError
	if errors.As(err, &desync) {
		v.Differed++
		if v.First == nil {
			v.First = desync
		}
		if len(v.Differences) < maxDifferences {
			v.Differences = append(v.Differences, desync)
		}
		if v.Stopped = !keepGoing; keepGoing {
			err = nil
		}
	}
	return err
}

// apply applies a record. It also finds a keyframe whose state does not have its checksum, which no later record would
// show.
func apply(f *lockstep.Follower, r *Reader, rec *record.Record) error {
	first := f.Simulation() == nil
	err := f.Apply(rec)
	if rec.Kind != record.KindKeyframe {
		return err
	}
	if first && errors.As(err, new(*lockstep.DesyncError)) {
		return r.odd(rec.Tick) // the state is the keyframe's own
	}
	if err == nil && rec.Tick < f.Tick() && !r.holds(f.Header(), &rec.Keyframe) {
		return r.odd(rec.Tick) // nothing else compares the state of an earlier tick
	}
	if err == nil && !first && rec.Tick == f.Tick() {
		if r.own = f.Simulation().AppendState(r.own[:0]); string(r.own) != string(rec.Keyframe.State) {
			return r.odd(rec.Tick)
		}
	}
	return err
}

// holds reports whether the hash of a keyframe is that of its state.
func (r *Reader) holds(h *lockstep.Header, k *record.Keyframe) bool {
	if r.schema == nil {
		var err error
		if r.schema, err = state.ParseSchema(h.StateSchema); err != nil {
			return false
		}
	}
	var sum checksum.Sum
	return checksum.OfBytes(&sum, r.schema, k.State) == nil && sum.Hash == k.Hash
}

// odd returns the error of a keyframe whose state does not have its checksum.
func (r *Reader) odd(t lockstep.Tick) error {
	return r.damage(fmt.Errorf("%w: keyframe of tick %d: its state is not the one that its checksum is of", ErrCorrupt, t))
}

// add adds the counts of the next stretch.
func (v *Verification) add(next *Verification) {
	v.Header, v.Ticks = next.Header, next.Ticks
	v.Commands += next.Commands
	v.Checked += next.Checked
	v.Mismatches += next.Mismatches
	v.Ended, v.Reason = next.Ended, next.Reason
}
