package locksteptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/lockstep"
)

// SearchOptions bound the effort of [Search].
type SearchOptions struct {
	Matches int // maximum number of matches; 0 means until the context ends

	// Workers is the number of matches that run concurrently; 0 means 1. They may disturb each other if the game keeps
	// something outside of its state, which is a fault that Search looks for.
	Workers int

	// Bots returns Options.Play for one match, so that bots can have memory. They play in every second match, and alone in every fourth.
	// Nil means none.
	Bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any

	// Progress is called after each match with the number of matches so far, by one worker at a time. Nil disables it.
	Progress func(matches int)
}

// Search checks random matches of a game, as [Run] does. Their seeds begin at o.Seed. Their length, number of commands and interval
// of saved states vary up to the values in o. Without o.Ticks, matches are as long as usual: up to the end of a match of bots alone, or
// 200 ticks without bots. Of a game whose matches are longer than 1000 ticks, one in eight is played in full length, up to 20000.
// Without o.Changes, half of the matches have none: in many games a match of two ends when a player leaves.
//
// Search returns the failure of the lowest seed, or nil, and what the matches have reached. It returns an error if the options fit no
// match, that of [Thin], which it calls first, and [ErrThin] if its own matches reach less than o.Floor.
//
// The choice of matches depends on o alone, and their number also on when the context ends.
func Search(ctx context.Context, g *lockstep.Game, o Options, s SearchOptions) (*Failure, *Reached, error) {
	sum := reach.New(g)
	if err := Thin(g, o, s.Bots); err != nil {
		return nil, sum.Reached(), err
	}
	quiet := o.Changes == 0
	o, err := o.measured(g, whole, s.Bots)
	if err != nil {
		return nil, sum.Reached(), err
	}
	search := search{ctx: ctx, game: g, options: o, quiet: quiet, limits: s, reached: sum}
	var all sync.WaitGroup
	for range max(s.Workers, 1) {
		all.Go(search.work)
	}
	all.Wait()
	if search.found == nil && search.err == nil && search.last != nil {
		search.err = search.asked.thin(search.last)
	}
	r := sum.Reached()
	if search.found == nil && search.err == nil && r.Matches > 0 && !errors.Is(ctx.Err(), context.Canceled) {
		if search.bots != nil {
			o.Play = search.bots
		}
		search.err = o.Floor.Check(r, &o, r.Matches >= thinMatches) // fewer are as one
	}
	return search.found, r, search.err
}

// A search is shared by the workers of [Search].
type search struct {
	ctx     context.Context
	game    *lockstep.Game
	options Options
	quiet   bool // some matches have no Options.Changes
	limits  SearchOptions

	mu    sync.Mutex
	next  int // index of the next match
	done  int
	found *Failure
	err   error
	asked asked
	last  *match
	bots  func(lockstep.Player, *lockstep.Simulation) []any // of a match that bots played; nil for none

	reached *reach.Sum
}

func (s *search) work() {
	for {
		s.mu.Lock()
		i := s.next
		s.next++
		err := s.ctx.Err()
		if i == 0 && errors.Is(err, context.DeadlineExceeded) {
			err = nil // a search does some work
		}
		over := s.found != nil || s.err != nil || err != nil || s.limits.Matches > 0 && i >= s.limits.Matches
		s.mu.Unlock()
		if over {
			return
		}
		o := s.options.varied(i)
		if s.quiet && i%4 >= 2 {
			o.Changes = -1 // a player who leaves ends a match of two
		}
		if s.limits.Bots != nil && i%2 == 1 {
			o.Play = s.limits.Bots(o.Seed)
			if i%4 == 3 {
				o.Weights = onlyBots(s.game)
			}
		}
		m, err := compute(s.game, o)
		t := reach.New(s.game)
		if m != nil {
			t.Match(func(t lockstep.Tick) []byte { return m.states[t] }, lockstep.Tick(len(m.states)-1), m.frames) // up to where it failed
		} else {
			t.Played(0) // New failed
		}
		s.mu.Lock()
		s.done++
		s.reached.Include(t)
		if err == nil {
			s.asked.add(m.twins)
			s.last = m
			if o.Play != nil {
				s.bots = o.Play
			}
		}
		if f, ok := err.(*Failure); ok {
			if s.found == nil || f.Options.Seed < s.found.Options.Seed {
				s.found = f
			}
		} else if err != nil {
			s.err = err
		}
		if s.limits.Progress != nil {
			s.limits.Progress(s.done)
		}
		s.mu.Unlock()
	}
}

// varied returns the options of match i of a search. A match has less to restore and to compute again the longer it is.
func (o Options) varied(i int) Options {
	o.Seed += uint64(i)
	c := newChoices(&Options{Seed: o.Seed})
	if i%wholeEvery < wholeEvery-1 {
		o.Ticks = min(o.Ticks, longest)
	}
	shift := c.below(4)
	if i%4 == 3 {
		shift /= 2 // bots alone reach what comes late in a match
	}
	o.Ticks = max(o.Ticks>>shift, 2)
	least := max(int(o.Ticks)*int(o.Ticks)/maxAgain, 1)
	o.Every = lockstep.Tick(least + c.below(int(o.Ticks)))
	o.Rate = 1 + c.below(16)
	return o
}

const (
	wholeEvery = 8      // of so many matches, one may have more than longest ticks
	maxAgain   = 20_000 // ticks that a phase computes again in a match, at most about half of it
)

// Fuzz is a fuzz target: it lets the fuzzer choose the commands, their values and their order of arrival, and checks the
// match as [Run] does. The fuzzer sees which code a match reaches, and looks for matches that reach more.
//
//	func FuzzMyGame(f *testing.F) {
//		locksteptest.Fuzz(f, lockstep.MustGame(mygame.Rules()), locksteptest.Options{
//			Config: &mygame.Config{}, Players: 2, Ticks: 30,
//		}, locksteptest.Source{Package: "mygame_test", Game: "lockstep.MustGame(mygame.Rules())"})
//	}
//
// Run it with -fuzzminimizetime 5x. By default the go command spends up to a minute on making each new input small.
//
// When go test runs a failing match of the fuzzer again, Fuzz makes it small (see [Failure.Shrink]) and writes it to the
// test's artifacts, as a replay and as a Go test (see [Failure.WriteTest]).
//
// Before all, Fuzz plays some random matches. It fails with [ErrThin] if these prove too little, because the fuzzer's would too.
func Fuzz(f *testing.F, g *lockstep.Game, o Options, s Source) {
	if !fuzzing() {
		reached, err := thin(g, o, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Logf("locksteptest: %d random matches: %s", thinMatches, reached)
	}
	usual, err := o.measured(g, longest, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint64(1), uint8(5), []byte(nil))
	f.Add(uint64(2), uint8(1), []byte("\x00\x00\x01\x02\x03\xff\xff\xff\xff\x00\x01"))
	f.Add(uint64(3), uint8(16), []byte("some commands, well mixed, of which the fuzzer makes its own"))
	f.Add(uint64(92), uint8(9), bytes.Repeat([]byte{0x93}, 9600)) // hundreds of commands of one player for a tick
	reported := false
	f.Fuzz(func(t *testing.T, seed uint64, every uint8, choices []byte) {
		o := usual
		o.Seed, o.Choices = seed, choices
		o.Every, o.Span = 4+lockstep.Tick(every%16), 8
		_, err := compute(g, o)
		if found, ok := err.(*Failure); ok && !fuzzing() {
			if reported {
				t.Skip("it fails, too; another match is made small")
			}
			reported = true
			report(t, found.Shrink(ShrinkOptions{}), s)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// report fails the test with a failure, its Go test and the name of its replay.
func report(t testing.TB, f *Failure, s Source) {
	t.Helper()
	const name = "found.ssr"
	s.Replay = name
	dir := t.ArtifactDir()
	test, replay := filepath.Join(dir, "found_test.go"), filepath.Join(dir, name)
	file, err := os.Create(replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.WriteReplay(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	source := f.source(t, s, dir)
	if err := os.WriteFile(test, source, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%v\n%s\nwith -artifacts, these stay:\n%s\n%s", f, source, test, replay)
}

// source returns the Go test of a failure, whose comment has the line of code if it is known. The test runs in dir.
func (f *Failure) source(t testing.TB, s Source, dir string) []byte {
	var first, source bytes.Buffer
	err := f.WriteTest(&first, s)
	if err == nil {
		// Without the line, the test is good all the same.
		s.Comment, _ = f.lookForLine(t, program.TestJob{
			Run: "^" + foundName(first.Bytes()) + "$", Folder: dir,
			Files: map[string][]byte{filepath.Join(packageDir, "samestep_found_test.go"): first.Bytes()},
		})
		err = f.WriteTest(&source, s)
	}
	if err != nil {
		return fmt.Appendf(nil, "no test was written: %v\n", err)
	}
	return source.Bytes()
}

// foundName returns the name of the test that WriteTest has written.
func foundName(source []byte) string {
	_, after, _ := bytes.Cut(source, []byte("\nfunc "))
	name, _, _ := bytes.Cut(after, []byte("("))
	return string(name)
}
