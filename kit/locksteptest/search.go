package locksteptest

import (
	"context"
	"errors"
	"sync"

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
