package desync

import (
	"cmp"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Options limit the cost of an explanation, and say where to find the game.
type Options struct {
	// Game returns the game of a header, or an error that says why there is none. If Game is nil, nothing is simulated.
	Game func(*lockstep.Header) (*lockstep.Game, error)

	// Path limits the fields, and the commands and changes that are listed for them, to those at or below it, as
	// [state.Schema.Lookup] takes it; "" is the whole state.
	Path string

	// Fields is the maximum number of fields that are listed; 0 means 200, and more than 100,000 mean 100,000.
	Fields int

	// Redact leaves out what people have written: names of players, and strings in states, commands and results.
	Redact bool

	// MaxTicks is the maximum number of ticks simulated to reach the desync; 0 means 100,000. If no keyframe is near
	// enough, nothing is simulated.
	MaxTicks int

	// Budget is the maximum time for trials, and the same again to find the commands that wrote the fields; 0 means 10 s.
	// Without Now, each simulated tick counts as 100 µs.
	Budget time.Duration

	// MaxReplay is the maximum size of the replay, in bytes; 0 means 256 MiB.
	MaxReplay int64

	// MaxStates is the maximum size of all states in the bundle together, in bytes; 0 means 512 MiB.
	MaxStates int

	// MaxMemory is the maximum size of the states kept during the re-simulation, in bytes; 0 means 64 MiB.
	MaxMemory int

	// Progress is called from time to time during trials with the time spent and the time in all; nil disables it.
	Progress func(spent, all time.Duration)

	// Apart lets a process that has computed nothing before do a job, by [ComputeApart], and returns its result: what New or another
	// match has left in this process cannot decide there. It bounds the time and the size of the result. Nil: nothing that this process
	// finds is proven.
	Apart func(job []byte) ([]byte, error)

	// Now is the clock that measures the time of trials and of ticks. A verdict waits until it has gone on by a second, after which rules
	// that read a clock have another result. Nil: nothing waits, nothing is proven, and the time of ticks is not measured.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Fields = min(cmp.Or(max(o.Fields, 0), 200), maxListed)
	o.MaxTicks = cmp.Or(max(o.MaxTicks, 0), maxTicks)
	o.Budget = cmp.Or(max(o.Budget, 0), maxTrialsMS*time.Millisecond)
	o.MaxReplay = cmp.Or(max(o.MaxReplay, 0), maxReplay)
	o.MaxMemory = cmp.Or(max(o.MaxMemory, 0), maxKept)
	o.MaxStates = cmp.Or(max(o.MaxStates, 0), maxStates)
	return o
}

const (
	lookBack   = 256  // ticks before the desync whose states are looked at
	keptBefore = 8192 // ticks before these whose states are kept, too, if there is memory
	maxColumns = 96   // of the time line
)
