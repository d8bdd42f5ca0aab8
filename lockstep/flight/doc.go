// Package flight keeps and compares flight records: what a machine computed in the latest ticks of a match, as it computed them first.
//
// A [Ring] is in the machine. It has for each tick prints of the state and of its sections, the phases of Step with their draws, and a sum
// of the commands. It costs next to nothing, so that it is always on: a re-simulation shows what the rules do, and only a flight record
// what this machine did. [Ring.Record] returns its content, [Record.Append] and [Parse] are its bytes (docs/spec/flight.md), and
// [Compare] finds the first tick, section, phase and stream of draws in which two machines differ.
//
//	follower ──Begin, Open, Phase, Drew, Note──> Ring ──Record──> Append ──bytes──> Parse ──> Compare
//
// # What a tick has
//
// The prints ([state.Codec.AppendPrints]) are cut to 16 bits for a section and 32 for the state: they show a memory fault,
// and prove nothing of a liar. With more than [MaxPrints] sections the last one has the prints of the rest. A tick lacks prints if
// the state is so large that those of each tick would cost too much: then only ticks divisible by a power of two have them, the same on
// all machines, because the size of the state decides.
//
// A tick may be marked as restored: the state before it came from elsewhere, such as the server, so what differed earlier may not differ
// any more. The ticks after such a state are dropped. One of another match begins the record anew.
//
// # What it proves
//
// A record clears or accuses nobody but its owner, who can write what he likes.
//
//samestep:deterministic
package flight

import "github.com/seed-49bee653/samestep/lockstep/record"

// Limits of a record.
const (
	MaxTicks  = 2048     // the latest ones
	MaxBytes  = 64 << 10 // of a Ring, and of a record
	MaxPrints = 64       // of sections
	MaxPhases = 63       // that one tick tells apart
	MaxNames  = 64       // of phases and streams
	MaxName   = 32       // bytes of a name
	maxCounts = 128      // of draws, by phase and stream, of one tick

	// SampleBytes is how many bytes of the state are printed in a tick on average. A larger state is sampled.
	SampleBytes = 128 << 10
	maxEvery    = 1 << 10
)

// A Record is what one machine computed in consecutive ticks, but for gaps before restored ones.
type Record struct {
	Match  record.MatchID
	Prints int // of each tick with prints: one for each section, at most MaxPrints
	Ticks  []Tick
}

// A Tick is what a machine computed in one tick.
type Tick struct {
	Tick     record.Tick
	Restored bool     // the state before it came from elsewhere
	State    uint32   // the print of the state
	Prints   []uint16 // of its sections; nil if this tick has no prints
	Commands uint32   // their number
	Sum      uint16   // of the commands
	Phases   []string // that Step marked, in order; equal ones of two ticks may share memory
	Draws    []Drawn  // by phase
}

// Drawn are the draws of one phase.
type Drawn struct {
	Phase   int    // 1 + its index in Tick.Phases; 0 for what comes before the first
	Sum     uint16 // of stream and entity of each draw, in order
	Streams []Draws
}

// Draws are how often a phase drew from a stream.
type Draws struct {
	Stream string
	Count  uint32
}

// First returns the first tick of the record, and 0 if it is empty.
func (r *Record) First() record.Tick {
	if len(r.Ticks) == 0 {
		return 0
	}
	return r.Ticks[0].Tick
}

// Last returns the last tick of the record, and 0 if it is empty.
func (r *Record) Last() record.Tick {
	if len(r.Ticks) == 0 {
		return 0
	}
	return r.Ticks[len(r.Ticks)-1].Tick
}
