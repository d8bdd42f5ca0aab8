// Package profile measures what each tick of a match costs: it simulates a replay again, and times the rules' Step and its phases. It
// judges nothing.
//
//	p, err := profile.Measure(reader, game, profile.Options{Worst: 10, Repeat: 3 * time.Second})
//	p.WriteText(os.Stdout)
//
// [Measure] goes through the ticks several times. The first run compares the checksums of the file, and times each Step from mark to mark
// of [lockstep.Turn.Phase]. While [Options.Repeat] lasts, further runs do so again, and of each tick the quickest run counts, so that what
// else the machine did weighs less. One more run counts allocations, and looks at the states of the worst ticks and of each tenth.
// With [Options.CPU] more runs follow under the profiler of Go.
//
// The times are those of the machine that measures, not of the match. Hashing, reading and the network are no part of them; the garbage
// collector is where it runs in a Step.
package profile

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Options say what to measure, and how.
type Options struct {
	// From and To are the first and the last tick to measure; 0 means those of the match.
	From, To lockstep.Tick

	// MaxTicks limits the simulated ticks, see [replay.SimulateOptions].
	MaxTicks lockstep.Tick

	Worst  int           // how many of the worst ticks to list
	Repeat time.Duration // how long to repeat the measurement after the first run; 0 measures once

	// Elsewhere says that the rules run in a module: their phases have no times, and their allocations are not those of this process.
	Elsewhere bool

	// CPU gets a CPU profile for go tool pprof, whose samples have the labels game, match, tick and phase. Of a
	// label that is a number, it takes a pattern: -tagfocus 'tick=^20$'. Nil disables it.
	CPU io.Writer

	// Now is the clock. Nil means the one of the system.
	Now func() time.Time

	// Progress is called now and then with the number of simulated ticks of a run, and of all. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

// A Profile is what the ticks of a part of a match cost.
type Profile struct {
	Game  string        `json:"game"`
	Build string        `json:"build"`
	Match string        `json:"match"`
	From  lockstep.Tick `json:"from"`
	To    lockstep.Tick `json:"to"`

	Platform   string  `json:"platform"` // that measured, such as linux/amd64
	Go         string  `json:"go"`       // its version
	Processors int     `json:"processors"`
	Runs       int     `json:"runs"`      // of each tick, of which the quickest counts
	TickUS     float64 `json:"tick_us"`   // the time from tick to tick in the match
	Elsewhere  bool    `json:"elsewhere"` // the rules ran in a module, see [Options]

	Step   Cost    `json:"step"`
	Phases []Phase `json:"phases"` // in the order of their first marks; none without marks
	Worst  []Tick  `json:"worst"`  // the slowest first
	Tenths []Part  `json:"tenths"` // of the match

	Allocations *Allocations `json:"allocations,omitempty"` // of Step; nil of rules elsewhere
	Counted     int          `json:"counted"`               // ticks whose allocations were counted

	Agreed int    `json:"agreed"`           // checksums and keyframes of the file that are those of the simulation
	Desync string `json:"desync,omitempty"` // the first that is not
	Damage string `json:"damage,omitempty"` // why the file ends early
	Panic  string `json:"panic,omitempty"`  // of the rules, in the tick after the last

	CPURuns int `json:"cpu_runs,omitempty"` // of each tick under the profiler, for [Options.CPU]

	err   error     // Desync, Damage or Panic
	total []float64 // by tick, in microseconds
	of    [][]float64
}

// Err returns why the profile is not that of the whole match as it was played: a panic, a [*lockstep.DesyncError], or damage; or nil.
func (p *Profile) Err() error { return p.err }

// MarshalJSON returns the profile with lists that are not null.
func (p *Profile) MarshalJSON() ([]byte, error) {
	type plain Profile
	return json.Marshal((*plain)(p))
}

// A Cost sums times, in microseconds.
type Cost struct {
	Ticks int           `json:"ticks"` // that have it
	P50   float64       `json:"p50_us"`
	P99   float64       `json:"p99_us"`
	Max   float64       `json:"max_us"`
	At    lockstep.Tick `json:"max_tick"` // of Max
	Total float64       `json:"total_us"`
}

// costOf returns the cost of some ticks, of which the first is from. Ticks with less than 0 do not have it.
func costOf(from lockstep.Tick, all []float64) (c Cost) {
	sorted := make([]float64, 0, len(all))
	for i, v := range all {
		if v < 0 {
			continue
		}
		sorted = append(sorted, v)
		c.Total += v
		if v > c.Max || len(sorted) == 1 {
			c.Max, c.At = v, from+lockstep.Tick(i)
		}
	}
	slices.Sort(sorted)
	if c.Ticks = len(sorted); c.Ticks > 0 {
		c.P50, c.P99 = sorted[c.Ticks/2], sorted[c.Ticks*99/100]
	}
	c.Total = rounded(c.Total)
	return c
}

// rounded drops what is below a nanosecond.
func rounded(us float64) float64 { return float64(int64(us*1000+0.5)) / 1000 }

// A Phase is a part of Step, from its marks up to the next ones. That before the first mark has no name.
type Phase struct {
	Name string `json:"name"`
	Cost
	Share       float64      `json:"share"` // of the time of all steps, 0 to 1
	Allocations *Allocations `json:"allocations,omitempty"`
}

// Allocations are those on the heap of Go.
type Allocations struct {
	Objects float64       `json:"objects"` // of a counted tick, on average
	Bytes   float64       `json:"bytes"`
	Most    uint32        `json:"most_objects"`
	At      lockstep.Tick `json:"most_tick"` // of Most
}

// A Tick is one of the worst.
type Tick struct {
	Tick     lockstep.Tick `json:"tick"`
	US       float64       `json:"us"`
	Phases   []Time        `json:"phases"` // the slowest first
	Commands []Count       `json:"commands"`
	Lists    []Count       `json:"lists"` // of the state after it
	Bytes    int           `json:"state_bytes"`
}

// A Time is that of a phase in one tick.
type Time struct {
	Name string  `json:"name"`
	US   float64 `json:"us"`
}

// A Count is a number of commands of a kind, or of elements of the lists at a path of the state, all together.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// A Part is a tenth of the measured ticks, with what the state is after its last one.
type Part struct {
	From lockstep.Tick `json:"from"`
	To   lockstep.Tick `json:"to"`
	Cost
	Lists []Count `json:"lists"`
	Bytes int     `json:"state_bytes"`
}
