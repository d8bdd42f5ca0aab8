package line

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
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
		if err := s.firstTick(done[0], done[1]); err != nil {
			return err
		}
		if s.Tick == 0 {
			return s.panics(ctx, sides)
		}
	}
	return s.trace(ctx, sides)
}

// trace compares the tick between two sides.
func (s *search) trace(ctx context.Context, sides [2]*side) error {
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
			return s.panics(ctx, [2]*side{a, a})
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
	return s.compare(sides, done, [2]*program.Run{&done[0].result.Runs[0], &done[1].result.Runs[0]}, a.lastWrites(done[0].result.Before))
}
