// Package answers has what a player owes its referee after a desync: states that it is asked for, and ticks that it is asked to
// compute again, with their checksums or the phases of the last one.
//
// An [Answers] belongs to one connection. It has no follower and no clock: a request comes with a copy of all that it needs,
// because a state of the server's may replace the player's own meanwhile.
//
// # States
//
// [Answers.State] queues the state of a tick, or that there is none. At most [MaxStates] wait; a server that asks for more gets no
// answer to them. [Answers.NextState] takes them apart into chunks.
//
// # The record of the last ticks
//
// [Answers.Flight] queues the record as it is now, or that there is none, and [Answers.NextFlight] takes it apart. While one waits, another
// request has no effect.
//
// # Ticks again
//
//	idle ──Ask──> computing ──(the last tick)──> told ──NextSum, until there is none──> idle
//	                  |
//	                  └──(a state does not load, or a tick fails)──> told, that it cannot
//
// While a request is computed or its checksums wait, [Answers.Busy], another has no effect: so a server cannot make a player work
// faster. The material of a request stays for further ones of the same ticks ([Answers.Keeps]), so that all runs begin from the same
// memory. [Answers.Advance] computes at most four ticks in a call, and two in the time of one tick of the match, so that the game
// stays playable. With [maxSums] checksums waiting it stands still until they are sent.
//
// After each run of all ticks the machine compares the state hashes of all runs with the one of the first time and the match's, and
// returns an [Outcome] if that is news: memory that was altered, rules that differ, or no fixed result.
//
// # Who calls what
//
//	message state_request     State
//	message flight_request    Flight
//	message resimulate        Busy, Keeps, then Ask with new Material unless it keeps it
//	time passes               Advance, with the match's checksum of Last if the log has said it; Due says when next
//	something may be sent     NextSum while there is room, NextState once
//	the connection is gone    Reset
//
//samestep:deterministic
package answers

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// MaxStates is how many states wait to be sent at most.
	MaxStates = 4

	// MaxTicks is how many ticks are computed again at most.
	MaxTicks = 4096

	// pace is how many ticks are computed again in the time of one tick of the match at full speed.
	pace = 2

	// burst is how many of them one call of Advance computes at most.
	burst = 4

	// maxSums is how many checksums of them wait to be sent at most.
	maxSums = 32

	// maxRuns is how many runs of them the outcome regards.
	maxRuns = 8

	// commandBytes is the size of a command without its payload.
	commandBytes = 64

	never = lockstep.Time(1<<62 - 1)
)

// An Answers has what is owed over one connection. The zero Answers is ready.
type Answers struct {
	states []state
	flight *state // the record, or nil

	m       *Material // nil: there is none
	results []uint64  // the state hashes of its last tick, of all runs so far
	told    protocol.Outcome

	to     lockstep.Tick // of the present request; 0 if it is answered
	phased bool          // the state of tick to is asked for, and its phases
	left   []lockstep.Command
	at     lockstep.Time // when the next tick is due
	sums   []sum         // to be sent
}

// A Material is what is needed to compute the ticks after From up to Last again.
type Material struct {
	From, Last lockstep.Tick
	State      []byte // of tick From
	Hash       uint64 // of that state, when it was computed
	Commands   []lockstep.Command
	First      []uint64 // by tick after From: the state hash that was computed first; 0 if it is not kept
	Sim        *lockstep.Simulation
}

// A state is the part of a requested state that is not sent yet.
type state struct {
	tick   lockstep.Tick
	names  []string // of the phases of the tick, before the state; nil for none
	sums   []uint64 // state hashes at their beginnings
	bytes  []byte
	offset int
}

// A sum is the checksum of a tick that was computed again.
type sum struct {
	tick lockstep.Tick // 0 if it could not be computed
	checksum.Sum
}

// An Outcome says what runs of the ticks after From up to To show.
type Outcome struct {
	From, To lockstep.Tick
	Outcome  protocol.Outcome
}

// Reset forgets everything: the connection is gone.
func (a *Answers) Reset() { *a = Answers{} }

// State queues the state of a tick, nil for none.
func (a *Answers) State(t lockstep.Tick, bytes []byte) {
	if len(a.states) < MaxStates {
		a.states = append(a.states, state{tick: t, bytes: append([]byte(nil), bytes...)})
	}
}

// Flight queues the record of the last ticks, nil for none, in answer to a request about a tick.
func (a *Answers) Flight(t lockstep.Tick, record []byte) {
	if a.flight != nil {
		return
	}
	if len(record) > protocol.MaxFlight {
		record = nil
	}
	a.flight = &state{tick: t, bytes: record}
}

// Busy reports whether a request to compute ticks again has no effect.
func (a *Answers) Busy() bool { return a.to > 0 || len(a.sums) > 0 || len(a.states) >= MaxStates }

// Keeps reports whether the material of a request is here.
func (a *Answers) Keeps(from, to lockstep.Tick) bool {
	return a.m != nil && a.m.Sim != nil && a.m.From == from && to <= a.m.Last
}

// Last returns the last tick that can be computed again; 0 if there is no material.
func (a *Answers) Last() lockstep.Tick {
	if a.m == nil {
		return 0
	}
	return a.m.Last
}

// Ask begins to compute the ticks after from up to to again. phased asks for the state of tick to and its phases, otherwise for the
// checksums of all. m is needed unless the machine Keeps it; nil says that nobody has it.
func (a *Answers) Ask(now lockstep.Time, from, to lockstep.Tick, phased bool, m *Material) {
	if !a.Keeps(from, to) {
		a.m, a.results, a.told = m, nil, 0
	}
	a.to, a.phased, a.at = to, phased, now
	if m = a.m; m == nil || m.Sim.Restore(m.From, m.State) != nil || m.Sim.Hash() != m.Hash {
		a.cannot() // the kept state is altered, too
		return
	}
	a.left = m.Commands
}

// cannot answers a request that cannot be answered otherwise.
func (a *Answers) cannot() {
	if a.phased {
		a.states = append(a.states, state{tick: a.to})
	} else {
		a.sums = append(a.sums, sum{})
	}
	if a.to = 0; a.m != nil {
		a.m.Sim = nil
	}
}

// Due returns when the next tick is to be computed again.
func (a *Answers) Due() lockstep.Time {
	if a.to == 0 || len(a.sums) >= maxSums {
		return never
	}
	return a.at
}

// Advance computes the ticks that are due, of a match whose ticks take each at full speed, if the player is free. want
// is the match's state hash of tick Last if it is known. It returns an outcome that is news.
func (a *Answers) Advance(now, each lockstep.Time, free bool, want uint64, known bool) (news Outcome, ok bool) {
	each = max(1, each/pace)
	a.at = max(a.at, now-burst*each)
	for n := 0; n < burst && a.Due() <= now && free; n++ {
		if a.step() && known {
			news, ok = a.compare(want)
		}
		a.at += each
	}
	return news, ok
}

// step computes one tick again, and reports whether that ends a run of all of them.
func (a *Answers) step() (whole bool) {
	sim := a.m.Sim
	f := lockstep.Frame{Tick: sim.Tick() + 1}
	n := 0
	for n < len(a.left) && a.left[n].Tick == f.Tick {
		n++
	}
	f.Commands, a.left = a.left[:n], a.left[n:]
	var p phases
	if a.phased && f.Tick == a.to {
		sim.ObservePhases(p.add)
		defer sim.ObservePhases(nil)
	}
	if sim.Step(&f) != nil {
		a.cannot()
		return false
	}
	if !a.phased {
		s := sum{tick: f.Tick}
		sim.Sum(&s.Sum)
		a.sums = append(a.sums, s)
	}
	if f.Tick < a.to {
		return false
	}
	if a.phased {
		a.states = append(a.states, state{tick: a.to, names: p.names, sums: p.sums, bytes: sim.AppendState(nil)})
	}
	whole = !a.phased && a.to == a.m.Last && len(a.results) < maxRuns
	if whole {
		a.results = append(a.results, sim.Hash())
	}
	a.to = 0
	return whole
}

// phases are the first parts of a tick that the rules mark, with the state hash at the beginning of each. A message has no room
// for longer names.
type phases struct {
	names []string
	sums  []uint64
}

func (p *phases) add(_ lockstep.Tick, name string, sum *checksum.Sum) {
	if len(p.names) < protocol.MaxPhases && len(name) <= record.MaxName {
		p.names, p.sums = append(p.names, name), append(p.sums, sum.Hash)
	}
}

// compare returns the outcome of the runs, if it is news.
func (a *Answers) compare(want uint64) (Outcome, bool) {
	first := a.m.First[len(a.m.First)-1]
	if first == want {
		return Outcome{}, false
	}
	o := protocol.OutcomeOf(want, first, a.results...)
	news := o != a.told
	a.told = o
	return Outcome{From: a.m.From, To: a.m.Last, Outcome: o}, news
}

// NextSum takes the next checksum that is to be sent.
func (a *Answers) NextSum(m *protocol.Message) bool {
	if len(a.sums) == 0 {
		return false
	}
	s := a.sums[0]
	a.sums = append(a.sums[:0], a.sums[1:]...)
	*m = protocol.Message{Kind: protocol.KindResimulated, Tick: s.tick, Hash: s.Hash, Sections: s.Sections}
	if a.m != nil && s.tick > a.m.From {
		m.First = a.m.First[s.tick-a.m.From-1]
	}
	if len(s.Sections) > protocol.MaxSections {
		m.Sections = nil
	}
	return true
}

// NextState takes the next part of the state that is to be sent: at most a chunk.
func (a *Answers) NextState(m *protocol.Message) bool {
	if len(a.states) == 0 {
		return false
	}
	s := &a.states[0]
	if s.names != nil {
		*m = protocol.Message{Kind: protocol.KindPhases, Tick: s.tick, Names: s.names, Sections: s.sums}
		s.names, s.sums = nil, nil
		return true
	}
	if s.chunk(m, protocol.KindState) {
		a.states = append(a.states[:0], a.states[1:]...)
	}
	return true
}

// NextFlight takes the next part of the record that is to be sent: at most a chunk.
func (a *Answers) NextFlight(m *protocol.Message) bool {
	if a.flight == nil {
		return false
	}
	if a.flight.chunk(m, protocol.KindFlight) {
		a.flight = nil
	}
	return true
}

// chunk takes the next chunk, and reports whether it is the last one.
func (s *state) chunk(m *protocol.Message, k protocol.Kind) (last bool) {
	chunk := s.bytes[s.offset:min(len(s.bytes), s.offset+protocol.MaxChunk)]
	*m = protocol.Message{Kind: k, Tick: s.tick, Offset: uint32(s.offset), Total: uint32(len(s.bytes)), Bytes: chunk}
	s.offset += len(chunk)
	return s.offset == len(s.bytes)
}

// Memory returns how many bytes the machine keeps, but for its simulation.
func (a *Answers) Memory() (n int) {
	for i := range a.states {
		n += cap(a.states[i].bytes)
	}
	if a.flight != nil {
		n += cap(a.flight.bytes)
	}
	if a.m == nil {
		return n
	}
	n += cap(a.m.State) + 8*cap(a.m.First)
	for i := range a.m.Commands {
		n += commandBytes + len(a.m.Commands[i].Payload)
	}
	return n
}
