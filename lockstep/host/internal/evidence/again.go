package evidence

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxAgain is how many ticks a player is asked to compute again at most.
	maxAgain = 4096

	// againRuns is how often a player computes all ticks again. If its rules are not deterministic, once may be right.
	againRuns = 2

	// againTicks is how many ticks the referee compares with them in the time of a tick.
	againTicks = 4

	// againTime multiplies the time of the ticks: the runs, and one to the first tick that is wrong.
	againTime = 3
)

// An again asks a player to compute ticks again, as part of an inquiry.
type again struct {
	Resimulation
	begin    coordinator.State // of the referee, of a tick up to From
	frames   []lockstep.Frame  // after it
	next     lockstep.Tick     // the tick of the awaited checksum; 0 for none
	hash     uint64            // of the referee at the tick To
	first    []uint64          // the player's hashes, as computed at first
	sections [][]uint64        // of each run, flat
	waits    bool              // for the state of tick First
	complete bool              // the runs wait to be compared, or are being compared
	sim      *lockstep.Simulation
	due      lockstep.Time // of the next ticks of the comparison
	state    []byte        // of the referee, of tick First
	before   []byte        // of the referee, of the tick before the one that is compared
}

// time returns how long a player may take.
func (a *again) time(s *lockstep.Settings) lockstep.Time {
	return Timeout + lockstep.Time(s.Micros(againTime*int64(a.To-a.From)))
}

// done reports whether no more answers are awaited.
func (a *again) done() bool { return a == nil || a.next == 0 && !a.waits && !a.complete }

// take takes the checksum of the next tick of a run. After the last one, next is 0; if complete is not set then, another run is to begin.
func (a *again) take(m *protocol.Message, sections int) Fault {
	run := len(a.Runs) - 1
	switch {
	case m.Tick == 0: // it cannot
		a.cut()
		return ""
	case m.Tick != a.next:
		return "a tick computed again out of order"
	}
	a.Runs[run] = append(a.Runs[run], m.Hash)
	if run == 0 {
		a.first = append(a.first, m.First)
	}
	if len(m.Sections) == sections {
		a.sections[run] = append(a.sections[run], m.Sections...)
	}
	if a.next++; a.next > a.To {
		a.next, a.complete = 0, len(a.Runs) == againRuns
	}
	return ""
}

// cut drops the run that is not complete, and ends the others.
func (a *again) cut() {
	run := len(a.Runs) - 1
	a.next, a.Runs, a.sections = 0, a.Runs[:run], a.sections[:run]
	a.complete = true
}

// compare computes at most n of the ticks again as the referee does, up to the first at which a run differs. It
// reports whether it is done. The outcome stays unknown without a complete run, or if the referee's kept state was
// altered.
func (a *again) compare(g *lockstep.Game, h *lockstep.Header, n int) (done bool) {
	if a.sim == nil {
		sim, err := g.AwaitState(h)
		if err != nil || len(a.Runs) == 0 || sim.Restore(a.begin.Tick, a.begin.Bytes) != nil {
			a.complete = false
			return true
		}
		a.sim = sim
	}
	for ; n > 0 && len(a.frames) > 0 && a.First == 0; n-- {
		frame := &a.frames[0]
		a.before = a.sim.AppendState(a.before[:0])
		err := a.sim.Step(frame)
		if a.frames = a.frames[1:]; err != nil {
			a.complete, a.sim = false, nil
			return true
		}
		if a.sim.Tick() <= a.From {
			continue
		}
		var sum checksum.Sum
		a.sim.Sum(&sum)
		a.Right = append(a.Right, sum.Hash)
		if a.takeTick(&sum, g) {
			a.state = a.sim.AppendState(nil)
			a.markPhases(frame)
		}
	}
	if len(a.frames) > 0 && a.First == 0 {
		return false
	}
	if a.First > 0 || a.Right[len(a.Right)-1] == a.hash {
		a.Outcome = a.outcome()
	}
	a.complete, a.sim = false, nil
	return true
}

// markPhases computes the first tick that differs once more, for its phases.
func (a *again) markPhases(f *lockstep.Frame) {
	if a.sim.Restore(f.Tick-1, a.before) != nil {
		return // our own state: it cannot
	}
	a.sim.ObservePhases(func(_ lockstep.Tick, name string, sum *checksum.Sum) {
		if len(a.RightPhases) < protocol.MaxPhases && len(name) <= record.MaxName {
			a.RightPhases = append(a.RightPhases, PhaseSum{name, sum.Hash})
		}
	})
	if a.sim.Step(f) != nil || !slices.Equal(a.sim.AppendState(a.before[:0]), a.state) {
		a.RightPhases = nil
	}
}

// takeTick compares the next tick with the referee's checksum, and reports whether a run differs.
func (a *again) takeTick(right *checksum.Sum, g *lockstep.Game) bool {
	i := len(a.Right) - 1
	t := a.From + 1 + lockstep.Tick(i)
	if f := a.first[i]; a.Altered == 0 && f != 0 && f != right.Hash && (i == 0 || a.first[i-1] == a.Right[i-1]) {
		a.Altered = t
	}
	for run, hashes := range a.Runs {
		if hashes[i] == right.Hash {
			continue
		}
		a.First = t
		n := len(right.Sections)
		if all := a.sections[run]; len(all) == n*len(hashes) {
			first, _ := checksum.Compare(checksum.Sum{Hash: hashes[i], Sections: all[n*i : n*(i+1)]}, *right, g.StateSchema())
			a.Section = first.Name
		}
		return true
	}
	return false
}

// outcome judges the complete runs.
func (a *again) outcome() protocol.Outcome {
	last := int(a.To-a.From) - 1
	var ends []uint64
	for _, hashes := range a.Runs {
		if !slices.Equal(hashes, a.Runs[0]) {
			return protocol.ThirdResult
		}
		ends = append(ends, hashes[last])
	}
	o := protocol.OutcomeOf(a.hash, a.first[last], ends...)
	if o == protocol.RightThisTime && a.First > 0 {
		return protocol.ThirdResult // it was wrong in between
	}
	return o
}

// conclude returns what was found out, and nil without a complete run.
func (a *again) conclude(g *lockstep.Game, h *lockstep.Header) *Resimulation {
	if a == nil {
		return nil
	}
	if a.next != 0 { // the time is over
		a.cut()
	}
	if a.complete {
		a.compare(g, h, len(a.frames))
	}
	if a.Outcome == protocol.OutcomeUnknown {
		return nil
	}
	return &a.Resimulation
}

// phaseBytes is what a phase takes at most.
const phaseBytes = record.MaxName + 24

// memory returns the bytes that an again holds.
func (a *again) memory() int {
	if a == nil {
		return 0
	}
	n := cap(a.begin.Bytes) + cap(a.state) + cap(a.before) + 8*(cap(a.first)+cap(a.Right)) + phaseBytes*(len(a.Phases)+len(a.RightPhases))
	for i := range a.Runs {
		n += 8 * (cap(a.Runs[i]) + cap(a.sections[i]))
	}
	return n
}
