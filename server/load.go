package server

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// lateFrom is the delay from which work of a match counts as late.
const lateFrom = 5 * lockstep.Millisecond

// An activity is what a match's goroutine did while work was due.
type activity uint8

const (
	byWaiting   activity = iota // for a processor: it had nothing to do, and began late all the same
	byReceiving                 // messages of clients, and calls of admins
	byHosting                   // the rest of a tick: commands, checksums, keyframes, views, bots
	byStepping                  // Rules.Step
	byWriting                   // into the log
	bySending                   // to the connections
	activities
)

// A span is how the goroutine has spent some time.
type span struct {
	activity              activity
	took, stepped, writes lockstep.Time // the last two are parts of the first
}

// A load measures a match. Its goroutine uses it.
type load struct {
	steps   [1024]uint32 // the last ones, in microseconds; the next one replaces the oldest
	stepped uint64       // steps in all
	longest lockstep.Time

	began lockstep.Time // the present step
	now   span          // what the present span has so far
	at    lockstep.Time // when it began
	spans [16]span      // the last ones
	next  int

	late  [activities]lockstep.Time
	times uint32 // how often work was late
}

// step measures a Rules.Step, which begins or ends.
func (l *load) step(begins bool, now lockstep.Time) {
	if begins {
		l.began = now
		return
	}
	took := now - l.began
	l.steps[l.stepped%uint64(len(l.steps))] = uint32(min(took, 1<<32-1))
	l.stepped++
	l.longest = max(l.longest, took)
	l.now.stepped += took
}

// mark says what the goroutine has done since the last call.
func (l *load) mark(c activity, now lockstep.Time) {
	l.now.activity, l.now.took = c, now-l.at
	l.spans[l.next%len(l.spans)] = l.now
	l.next, l.now, l.at = l.next+1, span{}, now
}

// begin notes that work begins that was due some time ago. It looks back at what the goroutine did instead.
func (l *load) begin(delay lockstep.Time) {
	if delay < lateFrom {
		return
	}
	l.times++
	for i := 1; i <= min(l.next, len(l.spans)) && delay > 0; i++ {
		s := &l.spans[(l.next-i)%len(l.spans)]
		took := min(s.took, delay)
		stepped := min(s.stepped, took)
		writes := min(s.writes, took-stepped)
		l.late[byStepping] += stepped
		l.late[byWriting] += writes
		l.late[s.activity] += took - stepped - writes
		delay -= took
	}
}

// A loadView says what a match costs, for admins.
type loadView struct {
	Step   stepView   `json:"step"`
	Late   lateView   `json:"late"`
	Memory memoryView `json:"memory"`
}

// A stepView has the times of Rules.Step, in microseconds.
type stepView struct {
	Median  uint32 `json:"median_us"`  // of the last 1,024 ticks at most
	P99     uint32 `json:"p99_us"`     // of them
	Longest uint32 `json:"longest_us"` // since the match runs on this server
}

// A lateView says how often work of the match began at least 5 ms late since it runs on this server, and what its goroutine did
// meanwhile, in milliseconds of all delays.
type lateView struct {
	Times     uint32 `json:"times"`
	Waiting   uint32 `json:"waiting_ms"`
	Receiving uint32 `json:"receiving_ms"`
	Hosting   uint32 `json:"hosting_ms"`
	Stepping  uint32 `json:"stepping_ms"`
	Writing   uint32 `json:"writing_ms"`
	Sending   uint32 `json:"sending_ms"`
}

// A memoryView has bytes.
type memoryView struct {
	State      int `json:"state"`       // of the last keyframe in the log
	PastStates int `json:"past_states"` // that the referee keeps
	host.MemoryParts
	Bound int `json:"bound"` // of all of the match, see Server.MemoryBound
}

// view returns what admins are told.
func (l *load) view() (v loadView) {
	sorted := slices.Clone(l.steps[:min(l.stepped, uint64(len(l.steps)))])
	slices.Sort(sorted)
	if n := len(sorted); n > 0 {
		v.Step = stepView{sorted[n/2], sorted[n*99/100], uint32(min(l.longest, 1<<32-1))}
	}
	ms := func(c activity) uint32 { return uint32(l.late[c] / lockstep.Millisecond) }
	v.Late = lateView{l.times, ms(byWaiting), ms(byReceiving), ms(byHosting), ms(byStepping), ms(byWriting), ms(bySending)}
	return v
}
