package line

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/weave"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// versions compares two versions of the sources.
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
	if err := s.build(ctx, a, b); err != nil {
		return err
	}
	return s.two(ctx, [2]*side{a, b})
}

// platforms compares this platform with another one.
func (s *search) platforms(ctx context.Context) error {
	a, b := s.side("A", s.dir), s.side("B", s.dir)
	a.edits, b.edits = s.Edits, s.Edits
	var err error
	if b.env, b.runner, err = platform(s.Platform); err != nil {
		return err
	}
	s.result.Mode, s.result.Sides = Platforms, [2]string{lockstep.Platform(), s.Platform}
	s.progress("building for both platforms with probes")
	if err := s.build(ctx, a, b); err != nil {
		return err
	}
	return s.two(ctx, [2]*side{a, b})
}

// two finds the first tick whose results differ between two sides, and compares it.
func (s *search) two(ctx context.Context, sides [2]*side) error {
	if s.Tick == 0 {
		s.progress("looking for the first tick that differs")
		log, err := s.log("log", s.From, s.Last)
		if err != nil {
			return err
		}
		j := program.Job{Kind: program.Hashes, Log: log, Assets: s.assets, Tick: uint32(s.Last)}
		done, err := s.pair(ctx, "hashes", sides, [2]program.Job{j, j})
		if err != nil {
			return err
		}
		if err := s.reported(done[:]...); err != nil {
			return err
		}
		if err := s.firstTick(done[0], done[1]); err != nil || s.Tick == 0 {
			return err
		}
	}
	s.progress("recording tick %d", s.Tick)
	log, err := s.log("log-tick", s.Tick-1, s.Tick)
	if err != nil {
		return err
	}
	j := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick)}
	done, err := s.pair(ctx, "trace", sides, [2]program.Job{j, j})
	if err != nil {
		return err
	}
	return s.compare(sides, done, [2]*program.Run{&done[0].result.Runs[0], &done[1].result.Runs[0]}, nil)
}

// firstTick finds the first tick with different state hashes, or that only one side could compute.
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

// alone compares one version with itself: again and again, and then warm with cold.
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
	if err := s.again(ctx, a, log); err != nil || s.result.Finding != nil {
		return err
	}
	return s.warmCold(ctx, a, log)
}

// perturbed are settings of the Go runtime for the runs of one version.
var perturbed = [][]string{
	{"GOMAXPROCS=2"}, {"GOMAXPROCS=1", "GOGC=10"}, {"GOMAXPROCS=8", "GOGC=off"}, {"GOMAXPROCS=4", "GODEBUG=asyncpreemptoff=1"},
}

// tickRuns is how often a program computes the tick again to see another result.
const tickRuns = 64

// again computes the match several times, and then the first tick that differs until two runs of it differ.
func (s *search) again(ctx context.Context, a *side, log string) error {
	sides := [2]*side{a, a}
	runs := s.Runs
	if runs == 0 {
		runs = 4
	}
	if s.Tick == 0 {
		s.progress("computing the match %d times", runs)
		from := time.Now()
		var done []*job
		for n := range runs {
			j := program.Job{Kind: program.Hashes, Log: log, Assets: s.assets, Tick: uint32(s.Last)}
			one, err := a.run(ctx, "again"+string(rune('a'+n%26)), j, perturbed[n%len(perturbed)]...)
			if err != nil {
				return err
			}
			done = append(done, one)
		}
		s.result.RunSeconds += time.Since(from).Seconds()
		if err := s.reported(done[0]); err != nil {
			return err
		}
		first := lockstep.Tick(0)
		for _, one := range done[1:] {
			s.Tick = 0
			if err := s.firstTick(done[0], one); err != nil {
				return err
			}
			if s.Tick > 0 && (first == 0 || s.Tick < first) {
				first = s.Tick
			}
		}
		if s.Tick = first; first == 0 {
			return nil
		}
	}
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
		if err != nil {
			return err
		}
		if r := one.result.Runs; len(r) == 2 {
			return s.compare(sides, [2]*job{one, one}, [2]*program.Run{&r[0], &r[1]}, nil)
		}
	}
	return nil
}

// window is how many ticks before the tick are searched for the assignment that a stale value should have had.
const window = 200

// warmCold compares a simulation that came all the way with one restored from the snapshot before the tick.
func (s *search) warmCold(ctx context.Context, a *side, log string) error {
	s.result.Mode, s.result.Sides = WarmCold, [2]string{"from the start", "restored before the tick"}
	if s.Tick == 0 {
		s.progress("comparing each tick with a restored simulation")
		from := time.Now()
		done, err := a.run(ctx, "cold", program.Job{Kind: program.Cold, Log: log, Assets: s.assets, Tick: uint32(s.Last)})
		s.result.RunSeconds += time.Since(from).Seconds()
		if err != nil {
			return err
		}
		s.result.First, s.result.Last = lockstep.Tick(done.result.First), lockstep.Tick(done.result.Last)
		if s.Tick = lockstep.Tick(done.result.Differs); s.Tick == 0 {
			return nil
		}
	}
	s.progress("recording tick %d", s.Tick)
	cold := program.Job{Kind: program.Trace, Log: log, Assets: s.assets, Tick: uint32(s.Tick)}
	warm := cold
	warm.Warm, warm.Window = true, window
	one := *a
	one.name = "B"
	sides := [2]*side{a, &one}
	done, err := s.pair(ctx, "trace", sides, [2]program.Job{warm, cold})
	if err != nil {
		return err
	}
	before := map[string]lastWrite{}
	for _, l := range done[0].result.Before {
		site := &a.source.Sites[l.Site]
		if w := before[site.Name]; site.Kind == weave.Write && !site.Local && (w.site == nil || l.Tick > w.tick) {
			before[site.Name] = lastWrite{site, l.Tick}
		}
	}
	return s.compare(sides, done, [2]*program.Run{&done[0].result.Runs[0], &done[1].result.Runs[0]}, before)
}

// compare compares the recordings of two runs of the tick.
func (s *search) compare(sides [2]*side, done [2]*job, runs [2]*program.Run, before map[string]lastWrite) error {
	s.result.Tick = s.Tick
	for i, r := range runs {
		s.result.Events[i], s.result.Panics[i] = r.Events, r.Panic
		s.result.Dropped += r.Dropped
	}
	s.result.Phase = phaseOf(runs[0].Phases, runs[1].Phases)
	if runs[0].Hash == runs[1].Hash && runs[0].Panic == runs[1].Panic {
		return nil
	}
	c := &comparison{before: before, decls: [2]map[string]weave.Decl{sides[0].source.Decls, sides[1].source.Decls}}
	if err := s.fields(c, done, runs); err != nil {
		return err
	}
	partner := weave.Align(sides[0].source.Sites, sides[1].source.Sites)
	paired := make([]bool, len(sides[0].source.Sites))
	for _, i := range partner {
		if i != weave.None {
			paired[i] = true
		}
	}
	var err error
	if c.a, err = openStream(done[0], runs[0], sides[0].source.Sites, func(i int) int {
		if !paired[i] {
			return weave.None
		}
		return i
	}); err != nil {
		return err
	}
	defer c.a.close()
	if c.b, err = openStream(done[1], runs[1], sides[1].source.Sites, func(i int) int { return partner[i] }); err != nil {
		return err
	}
	defer c.b.close()
	s.result.Finding, err = c.find()
	return err
}

// phaseOf returns the phase in which two runs began to differ: the last one that began with equal states.
func phaseOf(a, b []program.Phase) (name string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		name = a[i].Name
	}
	return name
}

// fields compares the states after the tick.
func (s *search) fields(c *comparison, done [2]*job, runs [2]*program.Run) error {
	if runs[0].Panic != "" || runs[1].Panic != "" {
		return nil
	}
	h, err := s.file.Header()
	if err != nil {
		return err
	}
	schema, err := state.ParseSchema(h.StateSchema)
	if err != nil {
		return err
	}
	var states [2][]byte
	for i := range states {
		if states[i], err = os.ReadFile(filepath.Join(done[i].Folder, runs[i].State)); err != nil {
			return err
		}
	}
	s.result.Fields, c.seen, err = fieldsOf(schema, states[0], states[1])
	return err
}
