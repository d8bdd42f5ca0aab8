package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func (s *search) versions(ctx context.Context) error {
	other, err := s.dir, error(nil)
	if s.Other != "" {
		if other, err = s.finder.checkout(s.repo, s.Other); err != nil {
			return err
		}
	}
	a, b := s.side("A", s.dir), s.side("B", other)
	b.edits = s.Edits
	s.result.Mode, s.result.Sides = Versions, [2]string{s.Source, cmp.Or(s.Other, "edited")}
	s.progress("building both versions with probes")
	return s.two(ctx, [2]*side{a, b})
}

func (s *search) platforms(ctx context.Context) error {
	a, b := s.side("A", s.dir), s.side("B", s.dir)
	a.edits, b.edits = s.Edits, s.Edits
	var err error
	if b.env, b.runner, err = platform(s.Platform); err != nil {
		return err
	}
	s.result.Mode, s.result.Sides = Platforms, [2]string{lockstep.Platform(), s.Platform}
	s.progress("building for both platforms with probes")
	return s.two(ctx, [2]*side{a, b})
}

// two builds two sides, finds the first tick whose results differ, and compares it.
func (s *search) two(ctx context.Context, sides [2]*side) error {
	if err := s.build(ctx, sides[:]...); err != nil {
		return err
	}
	from, last := s.From, s.Last
	if s.named {
		from, last = s.Tick-1, s.Tick // whether both sides end it
	} else {
		s.progress("looking for the first tick that differs")
	}
	log, err := s.log("log", from, last)
	if err != nil {
		return err
	}
	j := program.Job{Kind: program.Hashes, Log: log, Assets: s.assets, Tick: uint32(last)}
	sums, err := s.watch(ctx, "hashes", sides[:], j, s.named || s.file.Bundle() != nil)
	if err != nil {
		return err
	}
	if !s.named {
		if err := s.reported(sums...); err != nil {
			return err
		}
		if err := s.firstTick(sums[0], sums[1]); err != nil {
			return err
		}
	}
	if err := s.firstEndless(sums...); err != nil {
		return err
	}
	if s.Tick == 0 {
		return s.panics(ctx, sides, sums[0])
	}
	return s.trace(ctx, sides, [2]bool{sums[0].stop != nil, sums[1].stop != nil})
}

// trace compares the tick between two sides. The recording of a side that does not end the tick is cut.
func (s *search) trace(ctx context.Context, sides [2]*side, endless [2]bool) error {
	s.progress("recording tick %d", s.Tick)
	log, err := s.log("log-tick", s.Tick-1, s.Tick)
	if err != nil {
		return err
	}
	var jobs [2]program.Job
	for i := range jobs {
		jobs[i] = program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick)}
		if endless[i] {
			recordEndless(&jobs[i], endlessCut)
		}
	}
	if err := s.record(ctx, sides, jobs, endlessCut); err != nil || s.result.Panicked() {
		return err
	}
	return s.differences(ctx, sides)
}

// firstTick finds the first tick with different state hashes, or that only one side can compute.
func (s *search) firstTick(a, b *job) error {
	x, err := a.hashes()
	if err != nil {
		return err
	}
	y, err := b.hashes()
	if err != nil {
		return err
	}
	first := lockstep.Tick(a.result.First)
	s.result.First, s.result.Last = first, first+lockstep.Tick(max(len(x), len(y))-1)
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			s.Tick = first + lockstep.Tick(i)
			return nil
		}
	}
	return nil
}

// alone compares one version with itself: several runs, and then a running simulation with a restored one.
func (s *search) alone(ctx context.Context) error {
	a := s.side("A", s.dir)
	a.edits = s.Edits
	s.result.Mode, s.result.Sides = Again, [2]string{"one run", "another run"}
	s.progress("building with probes")
	if err := s.build(ctx, a); err != nil {
		return err
	}
	log, err := s.log("log", 0, s.Last) // from the start: a stale cache may be old
	if err != nil {
		return err
	}
	if err := s.twin(ctx, a); err != nil || s.result.Tick > 0 {
		return err
	}
	if err := s.again(ctx, a, log); err != nil || s.result.Tick > 0 {
		return err
	}
	if err := s.warmCold(ctx, a, log); err != nil || s.result.Tick > 0 || s.result.Panicked() {
		return err
	}
	return s.started(ctx, a, log)
}

// twin compares the two simulations of a bundle of the heavy mode: one that went on from where the machine did, and one restored later.
func (s *search) twin(ctx context.Context, a *side) error {
	b := s.file.Bundle()
	if b == nil || b.Manifest.Twin == nil || s.named {
		return nil
	}
	m := &b.Manifest
	log, err := s.log("log-twin", m.Began, m.Tick)
	if err != nil {
		return err
	}
	other := *a
	other.name = "B" // in a folder of its own
	s.progress("recording tick %d", m.Tick)
	s.Tick = m.Tick
	warm := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(m.Tick), Warm: true, Renew: uint32(m.Began)}
	cold := warm
	warm.Window, cold.Renew = window, uint32(m.Twin.Since)
	if m.Twin.Since == 0 { // the keyframe itself
		cold.Bare = true
	}
	if err := s.record(ctx, [2]*side{a, &other}, [2]program.Job{warm, cold}, 0); err != nil {
		return err
	}
	if s.result.Finding == nil && !s.result.Panicked() {
		s.Tick, s.result.Tick = 0, 0
		s.result.Notes = append(s.result.Notes, "computed again as in the bundle, warm and cold do not differ")
		return nil
	}
	s.result.First, s.result.Last = m.Twin.Since, m.Tick
	s.result.Mode, s.result.Sides = WarmCold, [2]string{"as the machine computed it", fmt.Sprintf("restored at tick %d", m.Twin.Since)}
	return nil
}

// perturbed are settings of the Go runtime for the runs of one version.
var perturbed = [][]string{
	{"GOMAXPROCS=2"}, {"GOMAXPROCS=1", "GOGC=10"}, {"GOMAXPROCS=8", "GOGC=off"}, {"GOMAXPROCS=4", "GODEBUG=asyncpreemptoff=1"},
}

// tickRuns is how many times a program repeats the tick to get another result.
const tickRuns = 64

// again computes the match several times, and then the first tick that differs until two runs of it differ.
func (s *search) again(ctx context.Context, a *side, log string) error {
	sides := [2]*side{a, a}
	runs := s.Runs
	if runs == 0 {
		runs = 4
	}
	tick := s.Tick
	if s.named {
		var err error
		if log, err = s.log("log-tick", tick-1, tick); err != nil {
			return err
		}
		runs = 2 // whether they end it
	}
	if err := s.runs(ctx, a, log, runs); err != nil || s.result.Tick > 0 || s.Tick == 0 && !s.named {
		return err
	}
	if s.named && s.Tick > 0 && s.Tick < tick {
		return &beforeError{tick}
	}
	s.Tick = cmp.Or(s.Tick, tick)
	s.progress("computing tick %d again and again", s.Tick)
	log, err := s.log("log-tick", s.Tick-1, s.Tick)
	if err != nil {
		return err
	}
	from := time.Now()
	defer func() { s.result.RunSeconds += time.Since(from).Seconds() }()
	for n := range max(runs, 2) {
		j := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick), Runs: tickRuns, Yield: n%2 == 1}
		one, err := a.run(ctx, "tick", j, perturbed[n%len(perturbed)]...)
		if one != nil && one.stop != nil {
			s.result.Endless[1] = one.stop // a run before has ended it
			return s.neverEnds(ctx, a, log)
		}
		if err != nil {
			return err
		}
		if r := one.result.Runs; len(r) == 2 {
			return s.compare(sides, [2]*job{one, one}, [2]*program.Run{&r[0], &r[1]}, nil)
		} else if r[0].Panic != "" && s.named {
			return s.compare(sides, [2]*job{one, one}, [2]*program.Run{&r[0], &r[0]}, nil)
		}
	}
	if !s.named {
		s.result.Tick = s.Tick // that the runs differ is known
	}
	return nil
}

// runs computes the match several times, and finds the first tick whose results differ.
func (s *search) runs(ctx context.Context, a *side, log string, runs int) error {
	if !s.named {
		s.progress("computing the match %d times", runs)
	}
	var all []*job
	for n := range runs {
		j := program.Job{Kind: program.Hashes, Log: log, Assets: s.assets, Tick: uint32(s.Last), Backwards: n%2 == 1}
		one, err := s.watch(ctx, "again"+string(rune('a'+n%26)), []*side{a}, j, true, perturbed[n%len(perturbed)]...)
		if err != nil {
			return err
		}
		if all = append(all, one...); n > 0 && slices.ContainsFunc(all, func(j *job) bool { return j.stop != nil }) {
			break // so are the others, or they differ
		}
	}
	if !s.named {
		if err := s.reported(all[0]); err != nil {
			return err
		}
	}
	first := lockstep.Tick(0)
	for _, one := range all[1:] {
		s.Tick = 0
		if err := s.firstTick(all[0], one); err != nil {
			return err
		}
		if s.Tick > 0 && (first == 0 || s.Tick < first) {
			first = s.Tick
		}
	}
	s.Tick = first
	if err := s.firstEndless(all...); err != nil || s.result.Endless == [2]*Endless{} {
		return err
	}
	return s.neverEnds(ctx, a, log)
}

// neverEnds records a tick that a run of a version does not end, or two. The recording is of none of them: only of these it tells more.
func (s *search) neverEnds(ctx context.Context, a *side, log string) error {
	s.progress("recording tick %d", s.Tick)
	j := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick), Warm: true}
	recordEndless(&j, endlessCut)
	one, err := a.run(ctx, "endless", j)
	if err != nil {
		return err
	}
	r, known := &one.result.Runs[0], s.result.Endless
	err = s.compare([2]*side{a, a}, [2]*job{one, one}, [2]*program.Run{r, r}, nil)
	for i, e := range known {
		if e == nil {
			s.result.Endless[i] = nil
		}
	}
	return err
}

// started compares a program that has called New with one that has just started: New may leave something outside of the state.
func (s *search) started(ctx context.Context, a *side, log string) error {
	s.progress("computing the match without New")
	bare := *a
	bare.name = "B" // in a folder of its own
	sides := [2]*side{a, &bare}
	j := program.Job{Kind: program.Hashes, Log: log, Assets: s.assets, Tick: uint32(s.Last)}
	jobs := [2]program.Job{j, j}
	jobs[1].Bare = true
	sums, err := s.pair(ctx, "made", sides, jobs)
	if err != nil {
		return err
	}
	was := s.Tick
	s.Tick = 0
	if err := s.firstTick(sums[0], sums[1]); err != nil || s.Tick == 0 {
		s.Tick = was
		return err
	}
	s.named, s.result.Mode, s.result.Sides = false, WarmCold, [2]string{"after New", "in a program that has just got the state"}
	s.progress("recording tick %d", s.Tick)
	for i := range jobs {
		jobs[i].Kind, jobs[i].Tick, jobs[i].Warm = program.Trace, uint32(s.Tick), true
	}
	jobs[0].Window = window
	return s.record(ctx, sides, jobs, 0)
}

// window is how many ticks before the tick are searched for the assignment that a stale value should have had.
const window = 200

// warmCold compares a simulation from the start of the match with one restored from the snapshot before the tick.
func (s *search) warmCold(ctx context.Context, a *side, log string) error {
	s.result.Mode, s.result.Sides = WarmCold, [2]string{"from the start", "restored before the tick"}
	var endless bool
	other := *a
	other.name = "B" // in a folder of its own
	sides := [2]*side{a, &other}
	if !s.named {
		s.progress("comparing each tick with a restored simulation")
		done, err := s.watch(ctx, "cold", []*side{a}, program.Job{Kind: program.Cold, Log: log, Assets: s.assets, Tick: uint32(s.Last)}, true)
		if err != nil {
			return err
		}
		one := done[0]
		s.result.First, s.result.Last = lockstep.Tick(one.result.First), lockstep.Tick(one.result.Last)
		s.Tick, endless = lockstep.Tick(one.result.Differs), one.stop != nil
		if err := s.firstEndless(one); err != nil {
			return err
		}
		if s.Tick == 0 {
			return s.panics(ctx, sides, one)
		}
	}
	s.progress("recording tick %d", s.Tick)
	cold := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick)}
	if endless {
		recordEndless(&cold, 0)
	}
	warm := cold
	warm.Warm, warm.Window = true, window
	return s.record(ctx, sides, [2]program.Job{warm, cold}, 0)
}

// endlessCut is the number of events after which the recording of an endless tick is cut.
var endlessCut = 1 << 20

// manyTimes is the factor by which a tick may take longer than the longest tick so far.
const manyTimes = 20

// errEnough ends a program whose further ticks change nothing.
var errEnough = errors.New("line: enough is known")

// errEndless ends a program that does not end a tick.
var errEndless = errors.New("line: a tick does not end")

// A watched is a program that computes a match and writes the sum of each tick.
type watched struct {
	done   *job
	path   string // of the file of sums
	sums   []uint64
	since  time.Time // of the latest sum
	ended  bool
	cancel context.CancelCauseFunc
}

// watch lets sides do a job that writes sums, and compares these as they come. It ends a side that does not end a tick, and, unless
// all sums are wanted, both as soon as they differ.
func (s *search) watch(ctx context.Context, name string, sides []*side, j program.Job, all bool, env ...string) (done []*job, err error) {
	from := time.Now()
	var list []*watched
	type end struct {
		i    int
		done *job
		err  error
	}
	ends := make(chan end)
	for i, one := range sides {
		own := name + one.name
		w := &watched{path: filepath.Join(one.folder, own, program.HashFile)}
		if err := gone(w.path); err != nil {
			return nil, err
		}
		sideCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w.cancel, list = cancel, append(list, w)
		go func() {
			done, err := one.run(sideCtx, own, j, env...)
			if cause := context.Cause(sideCtx); err != nil && (errors.Is(cause, errEnough) || errors.Is(cause, errEndless)) {
				if done, err = one.stopped(own, j); errors.Is(cause, errEndless) {
					done.stop = &Endless{Seconds: tickTime.Seconds()}
				}
			}
			ends <- end{i, done, err}
		}()
	}
	poll := time.NewTicker(min(tickTime/8, 20*time.Millisecond))
	defer poll.Stop()
	longest := time.Duration(0)
	for left := len(list); left > 0; {
		select {
		case e := <-ends:
			left--
			list[e.i].read()
			list[e.i].done, list[e.i].ended, err = e.done, true, cmp.Or(err, e.err)
			if e.err != nil {
				for _, w := range list {
					w.cancel(errEnough)
				}
			}
			continue
		case <-poll.C:
		}
		for _, w := range list {
			longest = max(longest, w.read())
			if len(w.sums) > 0 && !w.ended && time.Since(w.since) > max(tickTime, manyTimes*longest) {
				w.cancel(errEndless)
			}
		}
		if len(list) == 2 && !all && differ(list[0], list[1]) {
			list[0].cancel(errEnough)
			list[1].cancel(errEnough)
		}
	}
	s.result.RunSeconds += time.Since(from).Seconds()
	for _, w := range list {
		done = append(done, w.done)
	}
	return done, err
}

// read reads the new sums, and returns how long the first of them took.
func (w *watched) read() (took time.Duration) {
	b, _ := os.ReadFile(w.path) // it may not be there yet
	if n := len(b)/8 - len(w.sums); n > 0 {
		if len(w.sums) > 0 {
			took = time.Since(w.since) / time.Duration(n)
		}
		w.since, w.sums = time.Now(), sumsIn(b)
	}
	return took
}

// differ reports whether two programs are known to differ: in a sum, or because only one of them goes on.
func differ(a, b *watched) bool {
	for i := range min(len(a.sums), len(b.sums)) {
		if a.sums[i] != b.sums[i] {
			return true
		}
	}
	return a.ended && len(b.sums) > len(a.sums) || b.ended && len(a.sums) > len(b.sums)
}

// stopped returns the results that a program left before it was ended.
func (s *side) stopped(name string, j program.Job) (*job, error) {
	j.Folder = filepath.Join(s.folder, name)
	done := &job{Job: j}
	return done, program.ReadJSON(filepath.Join(j.Folder, program.ResultFile), &done.result)
}

// recordEndless makes the recording of a tick end that a side may not end.
func recordEndless(j *program.Job, events int) {
	j.Events, j.Seconds = events, tickTime.Seconds()
}

// firstEndless takes the tick that a side did not end, if no earlier one is known to differ.
func (s *search) firstEndless(done ...*job) error {
	for i, one := range done {
		if one.stop == nil {
			continue
		}
		sums, err := one.hashes()
		if err != nil {
			return err
		}
		switch t := lockstep.Tick(one.result.First) + lockstep.Tick(len(sums)); {
		case s.Tick == 0 || t < s.Tick:
			s.Tick, s.result.Endless = t, [2]*Endless{}
			fallthrough
		case t == s.Tick:
			s.result.Endless[min(i, 1)] = one.stop
		}
	}
	return nil
}

// record lets two sides record a tick, and compares it. Where a program ends in it, another one does it, whose recording has all events up
// to there.
func (s *search) record(ctx context.Context, sides [2]*side, jobs [2]program.Job, events int) error {
	for {
		done, err := s.pair(ctx, "trace", sides, jobs)
		if err == nil {
			var before map[string]lastWrite
			if jobs[0].Window > 0 {
				before = sides[0].lastWrites(done[0].result.Before)
			}
			return s.compare(sides, done, [2]*program.Run{&done[0].result.Runs[0], &done[1].result.Runs[0]}, before)
		}
		retry := false
		for i, one := range done {
			if one != nil && one.stop != nil && jobs[i].Seconds == 0 {
				recordEndless(&jobs[i], events)
				retry = true
			}
		}
		if !retry {
			return err
		}
	}
}

// panics computes the tick in which the rules panic here, of which done tells, or panicked in the match, if no tick differs.
func (s *search) panics(ctx context.Context, sides [2]*side, done *job) error {
	if done.result.Panic != "" {
		s.Tick = lockstep.Tick(done.result.Last) + 1
		return s.trace(ctx, sides, [2]bool{})
	}
	r, err := s.file.Reader()
	if err != nil {
		return err
	}
	p, err := replay.FindPanic(r)
	if b := s.file.Bundle(); p == nil && b != nil && b.Manifest.Panic != nil { // of a player
		p = &replay.Panic{Tick: b.Manifest.Tick, Where: b.Manifest.Panic.Where, Text: b.Manifest.Panic.Text, Recorded: true}
	}
	if p == nil || s.Last > 0 && p.Tick > s.Last {
		return err
	}
	s.Tick = p.Tick
	if err := s.trace(ctx, sides, [2]bool{}); err != nil || s.result.Finding != nil || s.result.Panicked() {
		return err
	}
	s.Tick, s.result.Tick = 0, 0
	s.result.Notes = append(s.result.Notes, p.Error()+"; these sources do not panic in it")
	return nil
}
