package simulate

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A referee is what is really so about the server's own copy of the match: what
// it says while that is wrong is not the match, and must be blamed on nobody.
type referee struct {
	wrong bool
	spans []interval             // of ticks in which it was wrong; while it is, the last one is open
	said  map[lockstep.Tick]bool // checked ticks whose logged checksum, or keyframe, was wrong
}

// flipReferee inverts a bit of the referee's state, if there is somebody who can
// tell.
func (w *world) flipReferee(r *rand.Rand) bool {
	if !w.server.ready() || w.server.host.Err() != nil || w.server.host.Referee() == nil || w.referee.wrong || !w.witnessed() {
		return false
	}
	if !w.flip(w.server.host.Referee().Simulation(), r) {
		return false
	}
	w.referee.wrong = true
	w.referee.spans = append(w.referee.spans, interval{w.oracle.tick(), lockstep.MaxTick})
	return true
}

// witnessed reports whether anybody is connected who has the match's state.
func (w *world) witnessed() bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool {
		return m.dead == 0 && m.liar == nil && !m.truth.wrong && m.client.Stage() == player.StageLive && m.wire != nil && m.wire.epoch == w.server.epoch
	})
}

// lookAtReferee notes that the referee is right again.
func (w *world) lookAtReferee() {
	f := w.server.host.Referee()
	if w.referee.wrong && f.Tick() == w.oracle.tick() && f.Simulation().Root() == w.oracle.roots[f.Tick()] {
		w.refereeIsRight()
		w.count("referee healed")
	}
}

// refereeIsRight ends the time in which it was wrong, as a server that starts
// again does: it computes the match anew.
func (w *world) refereeIsRight() {
	if w.referee.wrong {
		w.referee.wrong = false
		w.referee.spans[len(w.referee.spans)-1].until = w.oracle.tick()
	}
}

// saidWrong notes that the log has a wrong checksum or keyframe of a tick, and
// reports whether that is the referee's mistake.
func (r *referee) saidWrong(t lockstep.Tick) bool {
	if !r.wrong || t < r.spans[len(r.spans)-1].from {
		return false
	}
	if r.said == nil {
		r.said = map[lockstep.Tick]bool{}
	}
	r.said[t] = true
	return true
}

// knew reports whether the referee was right at a tick.
func (r *referee) knew(t lockstep.Tick) bool {
	return !slices.ContainsFunc(r.spans, func(i interval) bool { return t >= i.from && t <= i.until })
}

// unnoticed reports whether so many checks have gone by without a report that the
// referee cannot compute again what it was wrong in.
func (w *world) unnoticed() bool {
	every := lockstep.Tick(w.header.Settings.CheckEvery)
	return w.referee.wrong && w.oracle.tick() >= w.referee.spans[len(w.referee.spans)-1].from+6*every
}

// lostToReferee ends a run whose log has the checksums of a wrong referee, which
// it did not come to correct. Nobody can go on from that.
func (w *world) lostToReferee(err error) bool {
	var desync *lockstep.DesyncError
	if err != nil && (!errors.As(err, &desync) || !w.referee.said[desync.Tick]) {
		return false
	}
	w.count("match lost to a wrong referee")
	w.over, w.server.restart = true, never
	return true
}
