package desync

import (
	"cmp"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Options say what an explanation may cost, and where the game is.
type Options struct {
	// Game returns the game of a header, or an error with the reason that there is
	// none. Nil explains without a game.
	Game func(*lockstep.Header) (*lockstep.Game, error)

	// Fields is how many fields are listed; 0 means 200.
	Fields int

	// MaxTicks is how many ticks are simulated to reach the desync; 0 means
	// 100,000. Where a keyframe is not near enough, nothing is simulated.
	MaxTicks int

	// Budget is how many ticks are simulated for trials, and again as many to
	// find who wrote a field; 0 means 20,000.
	Budget int

	// MaxReplay is how many bytes the replay may have; 0 means 256 MiB.
	MaxReplay int64

	// MaxStates is how many bytes the states in the bundle may have in all; 0 means
	// 512 MiB.
	MaxStates int

	// MaxMemory is how many bytes of states are kept while the match is simulated
	// again; 0 means 64 MiB.
	MaxMemory int

	// Progress is called now and then with how many ticks of trials were simulated,
	// of at most twice the Budget; nil disables it.
	Progress func(ticks int)

	// Now is the clock that measures the time of ticks; nil disables it.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Fields = cmp.Or(max(o.Fields, 0), 200)
	o.MaxTicks = cmp.Or(max(o.MaxTicks, 0), maxTicks)
	o.Budget = cmp.Or(max(o.Budget, 0), maxTrials)
	o.MaxReplay = cmp.Or(max(o.MaxReplay, 0), maxReplay)
	o.MaxMemory = cmp.Or(max(o.MaxMemory, 0), maxKept)
	o.MaxStates = cmp.Or(max(o.MaxStates, 0), maxStates)
	return o
}

const (
	lookBack   = 256 // ticks before the desync whose states are kept
	maxColumns = 96  // of the time line
)
