package locksteptest

import (
	"context"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

// SearchOptions say how long [Search] looks.
type SearchOptions struct {
	// Matches is how many matches are checked at most; 0 means until the context ends.
	Matches int

	// Workers is how many matches are checked at the same time; 0 means 1. Where a game keeps something outside of its
	// state, which is what one looks for, several of them disturb each other.
	Workers int

	// Bots returns what Options.Play is in one match, so that bots can have a memory. They play in every second match.
	// Nil is for none.
	Bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any

	// Progress is called after each match with the number of matches so far, by one worker at a time; nil for nobody.
	Progress func(matches int)
}

// Search checks random matches of a game, as [Run] does, with seeds from o.Seed on and of different length, pace and
// choice of saved states, up to what o says. It returns the failure of the lowest seed that fails, or nil, and how many
// matches were checked. The error is that of options that fit no match.
//
// Which matches are checked depends on o alone. A search that the context ends finds as much as it had time for.
func Search(ctx context.Context, g *lockstep.Game, o Options, s SearchOptions) (*Failure, int, error) {
	search := search{ctx: ctx, game: g, options: o.filled(), limits: s}
	var all sync.WaitGroup
	for range max(s.Workers, 1) {
		all.Go(search.work)
	}
	all.Wait()
	return search.found, search.done, search.err
}

// A search is what the workers of [Search] share.
type search struct {
	ctx     context.Context
	game    *lockstep.Game
	options Options
	limits  SearchOptions

	mu    sync.Mutex
	next  int // of the matches, from 0
	done  int
	found *Failure
	err   error
}

func (s *search) work() {
	for {
		s.mu.Lock()
		i := s.next
		s.next++
		over := s.found != nil || s.err != nil || s.ctx.Err() != nil || s.limits.Matches > 0 && i >= s.limits.Matches
		s.mu.Unlock()
		if over {
			return
		}
		o := s.options.varied(i)
		if s.limits.Bots != nil && i%2 == 1 {
			o.Play = s.limits.Bots(o.Seed)
		}
		err := Run(s.game, o)
		s.mu.Lock()
		s.done++
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

// varied returns the options of match i of a search.
func (o Options) varied(i int) Options {
	o.Seed += uint64(i)
	c := newChoices(&Options{Seed: o.Seed})
	o.Ticks = max(o.Ticks>>c.below(4), 2)
	o.Every = 1 + lockstep.Tick(c.below(int(o.Ticks)))
	o.Rate = 1 + c.below(16)
	return o
}
