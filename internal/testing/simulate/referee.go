package simulate

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A referee knows when the state of the engine's referee was wrong. Checksums and
// keyframes from then are wrong, and nobody must be blamed for them.
type referee struct {
	wrong   bool
	wrongIn []interval             // ticks in which it was wrong; the last interval is open while it is
	logged  map[lockstep.Tick]bool // checked ticks whose checksum or keyframe in the log is wrong
}

// flipReferee inverts a bit of the referee's state, if somebody can notice.
func (w *world) flipReferee(r *rand.Rand) bool {
	if !w.server.ready() || w.server.host.Err() != nil || w.server.host.Referee() == nil || w.referee.wrong || !w.noticeable() {
		return false
	}
	if !w.flip(w.server.host.Referee().Simulation(), r) {
		return false
	}
	w.referee.wrong = true
	w.referee.wrongIn = append(w.referee.wrongIn, interval{w.oracle.tick(), record.MaxTick})
	return true
}

// noticeable reports whether a connected player has the correct state. A spectator's report makes no referee doubt its own, and a
// viewer has no state.
func (w *world) noticeable() bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool {
		return m.dead == 0 && m.liar == nil && !m.plan.Spectator && !m.plan.Views && !m.truth.wrong && m.client.Stage() == player.StageLive && m.wire != nil && m.wire.epoch == w.server.epoch
	})
}

// lookAtReferee records when the referee is right again.
func (w *world) lookAtReferee() {
	f := w.server.host.Referee()
	if w.referee.wrong && f.Tick() == w.oracle.tick() && f.Simulation().Hash() == w.oracle.hashes[f.Tick()] {
		w.refereeIsRight()
		w.count("referee healed")
	}
}

// refereeIsRight ends an interval in which it was wrong. A restarted server does that, too,
// because it computes the match again.
func (w *world) refereeIsRight() {
	if w.referee.wrong {
		w.referee.wrong = false
		w.referee.wrongIn[len(w.referee.wrongIn)-1].until = w.oracle.tick()
	}
}

// loggedWrong records that the log has a wrong checksum or keyframe of a tick. It
// reports whether the wrong referee explains that.
func (r *referee) loggedWrong(t lockstep.Tick) bool {
	if !r.wrong || t < r.wrongIn[len(r.wrongIn)-1].from {
		return false
	}
	if r.logged == nil {
		r.logged = map[lockstep.Tick]bool{}
	}
	r.logged[t] = true
	return true
}

// right reports whether the referee was right at a tick.
func (r *referee) right(t lockstep.Tick) bool {
	return !slices.ContainsFunc(r.wrongIn, func(i interval) bool { return t >= i.from && t <= i.until })
}

// unnoticed reports whether too many checks have passed without a report, so that the
// referee cannot re-simulate from before its fault.
func (w *world) unnoticed() bool {
	every := lockstep.Tick(w.header.Settings.CheckEvery)
	return w.referee.wrong && w.oracle.tick() >= w.referee.wrongIn[len(w.referee.wrongIn)-1].from+6*every
}

// lostToReferee ends a run whose log has uncorrected checksums of a wrong referee.
// No client can go on from that.
func (w *world) lostToReferee(err error) bool {
	var desync *lockstep.DesyncError
	if err != nil && (!errors.As(err, &desync) || !w.referee.logged[desync.Tick]) {
		return false
	}
	w.count("match lost to a wrong referee")
	w.over, w.server.restart = true, never
	return true
}
