package simulate

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// afterEnd is how long a run goes on after the rules have ended the match.
const afterEnd = 3 * lockstep.Second

// noteEnd notes whether the rules have ended the match in the last tick of the oracle.
func (w *world) noteEnd(sim *lockstep.Simulation) {
	_, ended := sim.Ended()
	switch {
	case !ended:
		w.concludeAt = never // a crash has lost the end
	case w.concludeAt == never:
		w.count("match ended by its rules")
		w.concludeAt = w.now + afterEnd
	}
}

// conclude ends the run of a match that its rules ended, and checks the file.
func (w *world) conclude() {
	s := w.server
	w.concludeAt = never
	switch {
	case !s.up():
		w.concludeAt = w.now + afterEnd
		return
	case w.referee.wrong || s.rotten:
		w.over = true
		return
	}
	if !w.oracle.ended {
		w.fail("I9", "the rules have ended the match in tick %d, and its log has no end", w.oracle.tick())
		return
	}
	w.closeFile()
	w.over = true
}

// wasOver ends the run if a match cannot go on because its rules have ended it, maybe in
// the wrong state of a referee.
func (w *world) wasOver(err error) bool {
	if _, ended := w.oracle.sim.Ended(); !ended && !w.referee.wrong || !errors.Is(err, coordinator.ErrEnded) {
		return false
	}
	w.over, w.server.restart = true, never
	return true
}
