package simulate

import (
	"bytes"
	"errors"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

// calmDown is how long a fault may have consequences after it ends.
const calmDown = 20 * lockstep.Second

// check checks the invariants that always hold, once a second and before a crash.
func (w *world) check() {
	if w.server.up() {
		if err := w.server.host.Info().CheckBounds(w.stateBytes()); err != nil {
			w.fail("I5", "%v", err)
		}
	}
	w.cluster.check()
	w.barrier.update(w)
	w.relay.checkLive(w)
	for _, m := range w.machines {
		w.checkClient(m)
	}
	w.onTime()
}

func (w *world) stateBytes() int { return len(w.oracle.sim.AppendState(w.buf[:0])) }

func (w *world) checkClient(m *machine) {
	if m.client == nil || m.dead > 0 {
		return
	}
	m.waits()
	m.seesSeats()
	m.seesWait()
	if got, want := m.client.Memory()+w.leak, m.client.MemoryBound(w.stateBytes()); got > want {
		w.fail("I5", "%s keeps %d bytes, want at most %d", m, got, want)
	}
	quiet := max(m.wellSince(), w.orders) + calmDown
	if m.liar != nil || !w.chaos || w.now < quiet || w.oracle.ended || m.plan.Down.Loss > 0 || m.plan.Up.Loss > 0 || !w.server.ready() {
		return
	}
	late := lockstep.Tick((m.plan.Down.Delay + m.plan.Down.Jitter + 2*lockstep.Second) * lockstep.Time(w.header.Settings.TickRate()) / lockstep.Second)
	if m.client.Stage() != player.StageLive || m.client.Tick()+late < m.present() {
		w.fail("I6", "nothing is wrong with %s for %d s, and it is %v at tick %d of %d", m, (w.now-quiet+calmDown)/lockstep.Second, m.client.Stage(), m.client.Tick(), m.present())
	}
}

// onTime checks that the match goes on, whatever clients do. It may wait for each
// player for up to the bound of its policy per minute.
func (w *world) onTime() {
	tick := w.oracle.tick()
	if w.inLobby() || tick != w.ticked || !w.server.ready() || w.now < max(w.calm, w.orders)+5*lockstep.Second || w.oracle.ended || w.server.host.Err() != nil {
		w.ticked, w.moved = tick, w.now
		return
	}
	bound := lockstep.Second + 2*w.plan.Host.Wait*lockstep.Time(w.plan.Settings.Players)
	if w.now-w.moved >= bound {
		w.fail("I6", "no tick was sealed for %d s, and nothing is wrong with the server", (w.now-w.moved)/lockstep.Second)
	}
}

// finish ends all faults and the loss of links, waits, and checks that the match has
// recovered.
func (w *world) finish() {
	w.chaos = false
	left := w.restores
	w.restores = nil
	for i := range left {
		w.undo(&left[i])
	}
	w.server.disk.failAt, w.server.disk.slow, w.server.stalled, w.server.again = 0, 0, min(w.server.stalled, w.now), 0
	if w.cluster.heal(); w.cluster == nil && !w.server.up() {
		w.server.restart = w.now
	}
	for _, m := range w.machines {
		m.busy, m.cost, m.offline = min(m.busy, w.now), 0, 0
		if m.liar != nil {
			m.liar.until = [tricks]lockstep.Time{}
		}
		if m.dead > 0 && !m.plan.Absent {
			m.dead = w.now
		}
		m.touch()
	}
	for _, wire := range w.wires {
		wire.up.stuck, wire.down.stuck, wire.deaf = false, false, false
		wire.up.link.Loss, wire.down.link.Loss = 0, 0
		if wire.path != nil {
			wire.path.up.hole, wire.path.down.hole = false, false
		}
	}
	w.wakeWires = true
	w.until(w.now + w.plan.Heal)
	if w.concludeAt < never { // the rules have just ended the match
		w.until(w.concludeAt + 1)
	}
	if w.violation != nil || w.over {
		return
	}
	w.converged()
	w.checkReceipts()
	if w.violation == nil && !w.over {
		w.end()
	}
}

// converged checks that all honest clients are back and have the same state.
func (w *world) converged() {
	if w.referee.wrong {
		if w.noticeable() {
			w.fail("I9", "the referee is wrong since tick %d, and a connected client is right", w.referee.wrongIn[len(w.referee.wrongIn)-1].from)
		}
		w.lostToReferee(nil)
		return
	}
	for _, m := range w.machines {
		if m.liar != nil || m.plan.Absent {
			continue
		}
		if m.delayed() && w.now < w.barrier.visibleSince+calmDown {
			w.count("spectator that sees nothing yet")
			continue
		}
		if m.idle.at > 0 && w.now < m.idle.at+calmDown { // a game's bot may be silent for as long as it likes
			w.count("inactive at the end")
			continue
		}
		s := m.client.Status()
		slack := lockstep.Tick((m.plan.Down.Delay+m.plan.Down.Jitter+2*lockstep.Second)*lockstep.Time(w.header.Settings.TickRate())/lockstep.Second) + 5
		switch {
		case w.relay.on && w.now < w.relay.alone+calmDown && (s.Stage != player.StageLive || m.truth.wrong):
			w.count("no state without a majority")
		case s.Stage != player.StageLive || s.Tick+slack < m.present():
			w.fail("I9", "%s is %v at tick %d of %d, %d s after the last fault%s", m, s.Stage, s.Tick, m.present(), w.plan.Heal/lockstep.Second, because(m.client.Err()))
		case s.Unanswered > 0:
			w.fail("I9", "%s has %d commands without an answer", m, s.Unanswered)
		case m.truth.wrong && w.plan.Host.Desync != host.LogDesynced:
			w.fail("I9", "%s still has another state than the match", m)
		}
	}
}

// because returns an error as the end of a sentence; "" for none.
func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// end ends the match and checks its file.
func (w *world) end() {
	s := w.server
	if !s.up() || s.host.Err() != nil {
		w.fail("I9", "the match does not go on, %d s after the last fault", w.plan.Heal/lockstep.Second)
		return
	}
	if err := s.host.Admin().End(w.now, "the run is over"); err != nil {
		w.fail("I9", "the match cannot be ended: %v", err)
		return
	}
	s.after()
	w.until(w.now + 3*lockstep.Second)
	w.seenAll()
	w.closeFile()
}

// closeFile closes the file of a match that has ended, and checks it.
func (w *world) closeFile() {
	s := w.server
	if err := s.writer.Close(); err != nil && w.now < w.plan.Chaos {
		return // by a fault of the disk: the rules have ended the match among the faults
	} else if err != nil {
		w.fail("I3", "the file cannot be closed: %v", err)
		return
	}
	data := s.disk.now.data
	n, err := w.prefix(data)
	if err != nil || n != len(w.oracle.now().records) {
		w.fail("I3", "the file has %d records of %d: %v", n, len(w.oracle.now().records), err)
		return
	}
	w.cluster.finished()
	w.replay(data)
	w.checkSaves(data)
}

// replay verifies the file.
func (w *world) replay(data []byte) {
	r, err := replay.NewReader(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		var v *replay.Verification
		v, err = replay.Verify(r, w.subject.Game, replay.VerifyOptions{Workers: 1, KeepGoing: len(w.referee.logged) > 0})
		if v.First != nil && w.referee.logged[v.First.Tick] {
			v.First, err = nil, nil // the log is known to be wrong there
		}
		if err == nil && (v.First != nil || !v.Ended || v.Ticks != w.oracle.tick()) {
			w.fail("I1", "the file is verified as %+v, want %d ticks without a difference", v, w.oracle.tick())
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.fail("I8", "the file cannot be verified: %v", err)
	}
}
