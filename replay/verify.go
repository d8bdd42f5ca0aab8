package replay

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Play gives each record of a replay to follower and to visit, which may be nil. It returns the first error of the three, or nil.
func Play(r *Reader, follower *lockstep.Follower, visit func(*record.Record) error) error {
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		if follower != nil {
			if err := follower.Apply(rec); err != nil {
				return err
			}
		}
		if visit != nil {
			if err := visit(rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// VerifyOptions set how Verify works.
type VerifyOptions struct {
	// MaxTicks limits the ticks to simulate, see [SimulateOptions]. Verify refuses a longer replay before it begins.
	MaxTicks lockstep.Tick

	// KeepGoing continues after a checksum that differs, to see whether the difference stays.
	KeepGoing bool

	// Workers is the number of goroutines that simulate, each from a keyframe on. 0 means one for each processor, or fewer if blocks or
	// states are so large that they would exceed their memory (docs/limits.md). The result does not depend on it.
	Workers int

	// Now is the clock with which the verdict of package desync waits a second before it says that the file was edited. Nil: it does not wait.
	Now func() time.Time

	// Apart computes ticks again in another process for the verdict of package desync, see its Options. Nil: it is not proven.
	Apart func(job []byte) ([]byte, error)

	// Progress is called now and then, by one goroutine at a time, with the number of simulated and of all ticks. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

// A Verification is the result of Verify: what was compared, and what differs. Package desync decides who was wrong.
type Verification struct {
	Header     *lockstep.Header `json:"-"`
	Began      lockstep.Tick    `json:"began,omitempty"` // the tick of the first state
	Ticks      lockstep.Tick    `json:"ticks"`           // the last simulated one
	Commands   int              `json:"commands"`        // applied, those of the system included
	Checked    int              `json:"checked"`         // checksums and keyframes compared
	Differed   int              `json:"differed"`        // of these, how many differ from the simulation
	Mismatches int              `json:"mismatches"`      // checksums of players that did not match the agreed one in the match
	Ended      bool             `json:"ended"`           // the end record was reached
	Reason     string           `json:"reason"`          // what it says

	// First is the first difference, or nil. Stopped says that the verification ended there.
	First   *lockstep.DesyncError `json:"first"`
	Stopped bool                  `json:"-"`

	// Panic is the first panic of the rules, in the file or here, or nil.
	Panic *Panic `json:"panic,omitempty"`

	// Differences are the first 131,072 differences, in order.
	Differences []*lockstep.DesyncError `json:"-"`

	// UnknownSignatures are the kinds of the file's signatures that are unknown and were not checked.
	UnknownSignatures []int `json:"unknown_signatures,omitempty"`
}

// Verify simulates a replay from its beginning and compares every checksum and keyframe in it. With an error, the [Verification] counts
// the part before it. The error is the first fault in the order of the file (First, or the Panic), and what ended the verification.
// Verify does not move the Reader.
//
// Workers verify the stretches between keyframes concurrently. If anything is wrong, Verify repeats the rest in order, so the result is
// always that of one simulation of the whole match.
func Verify(r *Reader, g *lockstep.Game, o VerifyOptions) (*Verification, error) {
	s, err := r.scan(o.MaxTicks)
	var damage *DamageError
	if err != nil && !errors.As(err, &damage) {
		return &Verification{}, err
	}
	if len(s.marks) == 0 {
		return &Verification{}, verifyHeader(r, g, err)
	}
	p := &verifier{reader: r, game: g, options: o, survey: s}
	v, found := p.run()
	if found != nil { // otherwise the index may be wrong, which no stretch shows
		err = found
	}
	v.Began = s.marks[0].tick
	for _, s := range s.signatures {
		if s.key() == nil {
			v.UnknownSignatures = append(v.UnknownSignatures, int(s[0]))
		}
	}
	return v, err
}

// verifyHeader returns the error of a file without a state: another game's header, or else err.
func verifyHeader(r *Reader, g *lockstep.Game, err error) error {
	first, ferr := r.Reopen()
	if ferr != nil {
		return ferr
	}
	if rec, ferr := first.Next(); ferr == nil && rec.Kind == record.KindHeader {
		if ierr := g.CheckIdentity(rec.Header); ierr != nil {
			return ierr
		}
	}
	return err
}

func (v *Verification) count(rec *record.Record) {
	v.Commands += len(rec.Frame.Commands)
	switch rec.Kind {
	case record.KindMismatch:
		v.Mismatches++
	case record.KindEnd:
		v.Ended, v.Reason = true, rec.Text
	}
}

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

// parallel returns how many stretches from the first on are right, without the one before a wrong one: their keyframe may be at fault.
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

// apply applies a record and counts the result. A checksum that differs is an error, unless the verification keeps going.
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

// apply applies a record. It also finds a keyframe whose state does not have its checksum, which no later record would show.
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

func (r *Reader) odd(t lockstep.Tick) error {
	return r.damage(fmt.Errorf("%w: keyframe of tick %d: its state does not match its checksum", ErrCorrupt, t))
}

func (v *Verification) add(next *Verification) {
	v.Header, v.Ticks = next.Header, next.Ticks
	v.Commands += next.Commands
	v.Checked += next.Checked
	v.Mismatches += next.Mismatches
	v.Ended, v.Reason = next.Ended, next.Reason
}

// A plan divides stretches among workers. Each begins with a share of adjacent ones and keeps its state from one to the next, since a new
// beginning costs time. A worker without stretches takes the later half of the longest share, so all finish at about the same time.
// Two workers that take stretches from a counter instead do up to 13% more work (bench log).
type plan struct {
	mutex sync.Mutex
	left  []share // of each worker
	end   int     // the first stretch that failed, or else the number of stretches
}

type share struct{ from, to int }

func newPlan(n, workers int) *plan {
	p := &plan{left: make([]share, min(workers, n)), end: n}
	for w := range p.left {
		p.left[w] = share{w * n / len(p.left), (w + 1) * n / len(p.left)}
	}
	return p
}

func (p *plan) take(w int) (int, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.next(w)
}

func (p *plan) next(w int) (int, bool) {
	s := &p.left[w]
	if s.from == s.to {
		return 0, false
	}
	s.from++
	return s.from - 1, true
}

// steal gives a worker the later half of the longest share, and returns its first stretch, if there is one.
func (p *plan) steal(w int) (int, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	longest := &p.left[0]
	for o := range p.left {
		if s := &p.left[o]; s.to-s.from > longest.to-longest.from {
			longest = s
		}
	}
	if longest.from == longest.to {
		return 0, false
	}
	middle := (longest.from + longest.to) / 2
	p.left[w], longest.to = share{middle, longest.to}, middle
	return p.next(w)
}

// fail notes that a stretch failed. No worker begins one after it.
func (p *plan) fail(i int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.end = min(p.end, i)
	for w := range p.left {
		s := &p.left[w]
		s.to = min(s.to, p.end)
		s.from = min(s.from, s.to)
	}
}

func (p *plan) needs(i int) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return i <= p.end
}

// panicked notes a panic of the rules: err of a record. After that of a record of a panic the verification goes on.
func (v *Verification) panicked(f *lockstep.Follower, rec *record.Record, err error) error {
	fault := (*lockstep.PanicError)(nil)
	switch {
	case rec.Kind == record.KindPanic && (err == nil || errors.As(err, &fault)):
		p := NewPanic(rec)
		p.Computed = true
		if fault != nil {
			p.Again, p.Here = true, fmt.Sprint(fault.Value)
		}
		v.Panic = cmp.Or(v.Panic, p)
		return nil
	case errors.As(err, &fault) && fault.Where == record.InStep && v.Panic == nil:
		v.Panic = &Panic{Tick: fault.Tick, Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack), Commands: len(rec.Frame.Commands), Computed: true, Again: true, Here: fmt.Sprint(fault.Value), fault: fault}
	}
	return err
}

// found returns the error of a file whose reading ended with err: the first fault in its order, and then err.
func (v *Verification) found(err error) error {
	var first error
	switch {
	case v.First != nil:
		first = v.First
	case v.Panic != nil:
		first = v.Panic
	}
	switch {
	case first == nil || errors.Is(err, first):
		return err
	case err == nil || errors.Is(first, err): // a panic is what ended it
		return first
	}
	return fmt.Errorf("%w; then %w", first, err)
}
