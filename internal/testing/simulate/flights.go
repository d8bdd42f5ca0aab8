package simulate

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// flights is the record of the last ticks that every machine must have, computed from canonical bytes.
type flights struct {
	ring   flight.Ring
	prints []uint64
}

// begin goes on after a tick of the oracle.
func (f *flights) begin(o *oracle) { f.ring.Begin(o.header.Match, o.tick()) }

// step notes the oracle's present tick.
func (f *flights) step(o *oracle) {
	b := o.sim.AppendState(nil)
	f.ring.Open()
	var prints []uint64
	if f.ring.Prints(o.tick()) {
		var err error
		if f.prints, err = o.subject.Game.StateSchema().AppendPrints(f.prints[:0], b); err != nil {
			o.w.fail("I10", "the rules of the game: %v", err)
			return
		}
		prints = f.prints
	}
	f.ring.Note(o.tick(), o.frame.Commands, prints, len(b))
}

// flew checks the records of evidence: an honest machine's is the truth in all ticks that both have, but for those after a fault. Of
// a liar's nothing is known.
func (f *flights) flew(w *world, e *host.Evidence) {
	if w.oracle.tookBack() {
		return // ticks that a crash took back are in no order
	}
	seen := map[lockstep.Player]bool{} // only looked up
	for _, x := range e.Flights {
		if seen[x.Player] {
			w.fail("flew", "the evidence of tick %d has two records of player %d", e.Report.Tick, x.Player)
		}
		seen[x.Player] = true
		if x.Player == lockstep.System {
			if w.referee.wrongIn == nil {
				f.flown(w, "the referee", x.Bytes, e.Report.Tick, nil)
			}
			continue
		}
		for _, p := range e.Participants {
			for _, m := range w.machines {
				if p.Player == x.Player && p.Name == m.token {
					f.flownBy(w, m, x.Bytes, e.Report.Tick)
				}
			}
		}
	}
}

// flownBy checks the record of a machine.
func (f *flights) flownBy(w *world, m *machine, b []byte, check lockstep.Tick) {
	switch {
	case len(b) > protocol.MaxFlight:
		w.fail("flew", "%s gave a record of %d bytes", m, len(b))
	case m.liar != nil:
		w.count("record of a liar")
	case m.truth.misled || w.referee.wrongIn != nil:
		w.count("record of a machine that was misled")
	default:
		f.flown(w, m.String(), b, check, &m.truth)
	}
}

// flown compares a record with the truth. Only a machine whose state a fault has changed may differ, from then on.
func (f *flights) flown(w *world, whose string, b []byte, check lockstep.Tick, of *truth) {
	r, err := flight.Parse(b)
	if err != nil {
		w.fail("flew", "the record of %s: %v", whose, err)
		return
	}
	c, ok := flight.Compare(r, f.ring.Record(), 0)
	switch {
	case !ok:
		w.fail("flew", "the record of %s is of match %v", whose, r.Match)
	case r.Last() < check && of == nil:
		w.fail("flew", "the record of %s ends at tick %d, before the check of tick %d", whose, r.Last(), check)
	case c.Commands > 0:
		w.fail("flew", "the record of %s has other commands in tick %d than the match", whose, c.Commands)
	case c.Differs > 0 && (of == nil || !of.flewFrom(c.Differs)):
		w.fail("flew", "the record of %s says that it was wrong from tick %d on, in %v", whose, c.Differs, c.Sections)
	case c.Differs > 0:
		w.count("record of a machine that was wrong")
	case c.Ticks > 0:
		w.count("record of a machine that was right")
	}
}

// flewFrom reports whether a fault changed the state in the tick before, so that the record of this one may differ.
func (t *truth) flewFrom(tick lockstep.Tick) bool {
	at := func(from, until lockstep.Tick) bool { return tick > from && tick <= until+1 }
	return t.wrong && at(t.from, max(t.to, t.last)) || slices.ContainsFunc(t.past, func(i interval) bool { return at(i.from, i.until) })
}

// tookBack reports whether a crash has taken ticks back.
func (o *oracle) tookBack() bool {
	return slices.ContainsFunc(o.epochs, func(h *history) bool { return h.dropped })
}
