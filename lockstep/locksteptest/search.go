package locksteptest

import (
	"context"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep"
)

// SearchOptions bound the effort of [Search].
type SearchOptions struct {
	Matches int // maximum number of matches; 0 means until the context ends

	// Workers is the number of matches that run concurrently; 0 means 1. They may disturb each other if the game keeps
	// something outside of its state, which is a fault that Search looks for.
	Workers int

	// Bots returns Options.Play for one match, so that bots can have memory. They play in every second match. Nil means none.
	Bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any

	// Progress is called after each match with the number of matches so far, by one worker at a time. Nil disables it.
	Progress func(matches int)
}

// Search checks random matches of a game, as [Run] does. Their seeds begin at o.Seed, and their length, number of commands
// and interval of saved states vary up to the values in o. Search returns the failure of the lowest seed, or nil, and the
// number of matches. It returns an error if the options fit no match, and that of [Thin], which it calls first.
//
// The choice of matches depends on o alone, and their number also on when the context ends.
func Search(ctx context.Context, g *lockstep.Game, o Options, s SearchOptions) (*Failure, int, error) {
	if err := Thin(g, o, s.Bots); err != nil {
		return nil, 0, err
	}
	search := search{ctx: ctx, game: g, options: o.filled(), limits: s}
	var all sync.WaitGroup
	for range max(s.Workers, 1) {
		all.Go(search.work)
	}
	all.Wait()
	if search.found == nil && search.err == nil && search.last != nil {
		search.err = search.asked.thin(search.last)
	}
	return search.found, search.done, search.err
}

// A search is shared by the workers of [Search].
type search struct {
	ctx     context.Context
	game    *lockstep.Game
	options Options
	limits  SearchOptions

	mu    sync.Mutex
	next  int // index of the next match
	done  int
	found *Failure
	err   error
	asked asked
	last  *match
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
		m, err := compute(s.game, o)
		s.mu.Lock()
		s.done++
		if m != nil {
			s.asked.add(m.twins)
			s.last = m
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

// varied returns the options of match i of a search.
func (o Options) varied(i int) Options {
	o.Seed += uint64(i)
	c := newChoices(&Options{Seed: o.Seed})
	o.Ticks = max(o.Ticks>>c.below(4), 2)
	o.Every = 1 + lockstep.Tick(c.below(int(o.Ticks)))
	o.Rate = 1 + c.below(16)
	return o
}
