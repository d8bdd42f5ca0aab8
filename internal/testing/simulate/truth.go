package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A truth knows since when a client's state is wrong, by comparison with the oracle's
// state. The engine's reports of desyncs must match it.
type truth struct {
	flipped   bool          // a fault has changed its state
	misled    bool          // its state comes from a wrong referee …
	given     lockstep.Tick // … at this tick
	wrong     bool          // its state is wrong
	from      lockstep.Tick // since this tick …
	to        lockstep.Tick // … and up to this one: a keyframe may have moved it back
	past      []interval    // earlier wrong intervals
	known     bool          // somebody has reported it
	reporting bool          // the client has reported it, and has not healed yet
	epoch     int           // of the stream of the state
	ran       lockstep.Tick // ticks that have run since it went wrong
	last      lockstep.Tick
}

// An interval is a range of ticks.
type interval struct{ from, until lockstep.Tick }

// restart records that the program restarts without a state.
func (t *truth) restart(now lockstep.Tick) {
	past := t.past
	if t.wrong {
		past = append(past, interval{t.from, max(t.to, now)})
	}
	*t = truth{past: past, flipped: t.flipped}
}

// flip records that a fault changes the state of tick now.
func (t *truth) flip(now lockstep.Tick) {
	t.flipped = true
	if !t.wrong {
		t.wrong, t.from, t.to, t.known, t.ran, t.last = true, now, now, t.reporting, 0, now
	}
}

// compare compares the state of a client with the oracle's.
func (t *truth) compare(m *machine) {
	s := m.client.Simulation()
	if s == nil || m.liar != nil {
		return
	}
	w := m.w
	hashes := w.oracle.hashes
	tick := s.Tick()
	if !w.oracle.stands(t.epoch, tick) {
		return // a crash has lost the tick, and the client will get another state
	}
	w.Compared++
	same := int(tick) < len(hashes) && s.Hash() == hashes[tick]
	switch {
	case same && t.wrong:
		t.wrong, t.past = false, append(t.past, interval{t.from, max(t.to, tick)})
		if t.known {
			w.count("desync healed")
		}
	case !same && !t.wrong:
		if !t.flipped && !t.misled {
			w.fail("I1", "%s has another state than the match after tick %d%s", m, tick, w.oracle.parted(tick, s.AppendState(nil)))
			return
		}
		if t.flip(tick); t.misled {
			t.from = min(t.from, t.given)
		}
	case !same:
		t.to = max(t.to, tick)
		if tick > t.last {
			t.ran += tick - t.last
		}
		if t.known || t.misled && w.referee.wrong { // there may be nobody to notice
		} else if w.relay.on {
			if check := w.relay.overdue(m); check > 0 {
				w.fail("desync", "%s is wrong since tick %d, has contradicted the agreed checksum of tick %d, and has no desync report by tick %d", m, t.from, check, tick)
			}
		} else if limit := 4 * lockstep.Tick(w.header.Settings.CheckEvery); t.ran > limit+lockstep.Tick(w.header.Settings.TickRate()) {
			w.fail("desync", "%s is wrong since tick %d, and has no desync report by tick %d", m, t.from, tick)
		}
	}
	t.last = tick
}

// reported checks a report that the client's state of a tick is wrong.
func (t *truth) reported(m *machine, tick lockstep.Tick) {
	if m.liar != nil {
		return
	}
	w := m.w
	if w.relay.misled(w, tick) {
		return
	}
	if !t.flipped && t.misled && tick >= t.given {
		return // not compared yet
	}
	if !t.flipped {
		w.fail("desync", "%s is right, and was reported as wrong at tick %d", m, tick)
		return
	}
	if t.wrong && tick >= t.from {
		t.known = true
		w.count("desync found")
		return
	}
	for _, p := range t.past {
		if tick >= p.from && tick <= p.until {
			w.count("desync found")
			return
		}
	}
	w.fail("desync", "%s was reported as wrong at tick %d; it is wrong: %t from tick %d, before that %v", m, tick, t.wrong, t.from, t.past)
}
