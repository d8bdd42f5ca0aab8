package simulate

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/player"
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

// kindOf returns the kind of a record.
func kindOf(b []byte) uint64 {
	p := packed{b: b}
	p.array()
	return p.uint()
}

// end compares the end record of n values with the end that the rules give.
func (o *oracle) end(p *packed, n int) {
	o.ended = true
	p.bytes()
	result, ended := o.sim.Ended()
	switch logged := []byte(nil); {
	case n > 2:
		if logged = p.bytes(); !o.w.referee.wrong && (!ended || !bytes.Equal(logged, result)) {
			o.w.fail("I1", "the log ends at tick %d by the rules with the result %x, want %x, %t", o.tick(), logged, result, ended)
		}
	case ended && !o.w.referee.wrong && !o.w.relay.on:
		o.w.fail("I1", "the rules end the match at tick %d, and the log ends as by the server", o.tick())
	}
}

// toldEnd checks the end of the match that a client was told of.
func (m *machine) toldEnd(e *player.Ended) {
	w := m.w
	if !e.ByRules || m.liar != nil || w.referee.wrong || w.server.rotten || m.truth.epoch != len(w.oracle.epochs)-1 {
		return // a crash may have lost the end
	}
	w.count("client told of the end by the rules")
	if m.plan.Spectator {
		w.count("spectator told of the end by the rules")
	}
	canonical, ended := w.oracle.sim.Ended()
	want, err := w.subject.Game.DecodeResult(canonical)
	if err != nil || !ended || !w.oracle.ended || !reflect.DeepEqual(e.Result, want) {
		w.fail("I1", "%s was told of the end with the result %v, want %v, %t, %v", m, e.Result, want, ended, err)
	}
}

// checkTold checks that each client that can play at the end of a run was told of the end.
func (w *world) checkTold() {
	for _, m := range w.machines {
		if m.liar == nil && m.client != nil && m.dead == 0 && m.stage == player.StageLive && w.now > m.wellSince()+afterEnd {
			w.fail("I9", "the rules have ended the match at tick %d, and %s plays on at tick %d", w.oracle.tick(), m, m.client.Tick())
		}
	}
}

// conclude ends the run of a match that its rules ended, and checks the file.
func (w *world) conclude() {
	s := w.server
	w.concludeAt = never
	switch {
	case !s.up() || w.cluster.behind():
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
	w.checkTold()
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
