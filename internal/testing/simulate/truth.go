package simulate

import "github.com/seed-49bee653/samestep/lockstep"

// A truth is what is really so about a client's state, found by comparing it
// with the oracle's: the reference for what the engine says of desyncs.
type truth struct {
	flipped bool          // a fault has changed its state, once
	misled  bool          // its state is the one of a referee that was wrong, …
	given   lockstep.Tick // … at this tick
	wrong   bool          // its state is not the match's
	from    lockstep.Tick // since this tick …
	to      lockstep.Tick // … and up to this one: a keyframe may have taken it back to an earlier one
	past    []interval    // when it was so before
	known   bool          // somebody has said so
	saying  bool          // the client has said so, and not yet that it is right again
	epoch   int           // of the stream that the state comes from
	ran     lockstep.Tick // ticks run since it went wrong
	last    lockstep.Tick
}

// An interval is from when to when a client was wrong.
type interval struct{ from, until lockstep.Tick }

// restart notes that the program was started again, with no state.
func (t *truth) restart(now lockstep.Tick) {
	past := t.past
	if t.wrong {
		past = append(past, interval{t.from, max(t.to, now)})
	}
	*t = truth{past: past, flipped: t.flipped}
}

// flip notes that a fault changes the state of tick now.
func (t *truth) flip(now lockstep.Tick) {
	t.flipped = true
	if !t.wrong {
		t.wrong, t.from, t.to, t.known, t.ran, t.last = true, now, now, t.saying, 0, now
	}
}

// compare compares the state of a client with the oracle's.
func (t *truth) compare(m *machine) {
	s := m.client.Simulation()
	if s == nil || m.liar != nil {
		return
	}
	w := m.w
	roots := w.oracle.roots
	tick := s.Tick()
	if !w.oracle.stands(t.epoch, tick) {
		return // a crash has taken the tick back, and the client will get another state
	}
	w.compared++
	same := int(tick) < len(roots) && s.Root() == roots[tick]
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
		if t.known || t.misled && w.referee.wrong { // there may be nobody who knows better
		} else if w.relay.on {
			if check := w.relay.overdue(m); check > 0 {
				w.fail("desync", "%s is wrong since tick %d, has contradicted the agreed checksum of tick %d, and nobody has said so by tick %d", m, t.from, check, tick)
			}
		} else if limit := 4 * lockstep.Tick(w.header.Settings.CheckEvery); t.ran > limit+lockstep.Tick(w.header.Settings.TickRate) {
			w.fail("desync", "%s is wrong since tick %d, and nobody has said so by tick %d", m, t.from, tick)
		}
	}
	t.last = tick
}

// told is called when somebody says that the client's state of a tick is wrong.
func (t *truth) told(m *machine, tick lockstep.Tick) {
	if m.liar != nil {
		return
	}
	w := m.w
	if w.relay.misled(w, tick) {
		return
	}
	if !t.flipped && t.misled && tick >= t.given {
		return // it has not been compared yet
	}
	if !t.flipped {
		w.fail("desync", "%s, who is right, is said to be wrong at tick %d", m, tick)
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
	w.fail("desync", "%s is said to be wrong at tick %d; it is so: %t from tick %d, before %v", m, tick, t.wrong, t.from, t.past)
}
