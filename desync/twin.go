package desync

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// WarmCold: a state that was computed from tick to tick, and one restored from its bytes, went on differently. Nobody is accused.
const WarmCold Party = "warm and cold differ"

// ClassTwin: the result depends on something that is not in the state, as the heavy mode has seen.
const ClassTwin Class = "warm and cold differ"

// explainTwin explains the bundle of a difference between a warm state and a cold one: in which field, and whether it comes again here.
func (w *work) explainTwin() (*Explanation, error) {
	m := w.manifest
	t := *m.Twin
	w.e.Twin = &t
	w.e.Verdict = Verdict{Party: WarmCold, Players: []lockstep.Player{}, Grade: GradeUnknown, Text: "the states were not computed again"}
	w.e.First, w.e.Compared, w.e.good, w.bad = Span{m.Tick, m.Tick}, m.Tick, m.Tick-1, m.Tick
	for _, x := range w.exhibits {
		if x.tick == m.Tick && x.referee.known() && x.player.known() {
			if err := w.listTwins(x.referee.bytes, x.player.bytes); err != nil {
				return nil, err
			}
		}
	}
	if w.listed == nil {
		w.note("the bundle has not both states of tick %d", m.Tick)
	}
	if t.Unfixed {
		w.e.unfix(&Parting{Tick: m.Tick, Field: w.twinField(), Way: WayRestored}, 0)
	}
	g := w.game("the ticks were not computed again")
	if g == nil {
		w.e.lacksGame = true
	} else if err := w.twinsAgain(g); err != nil {
		w.note("the ticks could not be computed again: %v", err)
	}
	w.e.Programs = w.programs()
	if g != nil {
		w.e.Programs = append(w.e.Programs, Program{Who: programThis, Build: g.Build(), Sources: g.Sources()})
	}
	if w.e.Verdict.Grade != GradeProven {
		w.e.Verdict.Advice, w.e.Verdict.With = w.e.advise()
	}
	w.e.Fingerprint = NewFingerprint(w.e.Game, ClassTwin, m.Section, w.twinField(), "")
	if p := w.e.Verdict.Parting; p != nil {
		w.e.Fingerprint = NewFingerprint(w.e.Game, ClassUnstable, "", p.Field, "")
	}
	if err := w.limit(); err != nil {
		return nil, err
	}
	if w.listed != nil {
		w.e.Fields, w.e.Places, _ = w.listed.Named(w.e.Fields, w.e.Places, nil)
	}
	w.entitle()
	return w.finish(), nil
}

// listTwins takes what differs between a warm state and a cold one.
func (w *work) listTwins(warm, cold []byte) (err error) {
	if bytes.Equal(warm, cold) {
		return nil
	}
	w.right, w.wrong = warm, cold
	if w.listed, err = newListing(w.log.schema, warm, cold, max(maxRanked, w.options.Fields)); err == nil {
		w.show()
	}
	return err
}

// twinField returns the first field that differs, or "".
func (w *work) twinField() string {
	if w.listed == nil || len(w.listed.fields.List) == 0 {
		return ""
	}
	return w.listed.fields.List[0].Path
}

// twinsAgain computes the ticks as the machine of the bundle did, warm, and twice cold, and says what came of it.
func (w *work) twinsAgain(g *lockstep.Game) error {
	warm, cold, err := w.twins(g)
	if err != nil {
		return err
	}
	v := &w.e.Verdict
	v.Simulated = true
	switch {
	case !cold[0].same(cold[1]):
		w.e.unfix(&Parting{Tick: w.manifest.Tick, Field: w.twinField(), Way: WayAgain}, 2)
		return nil
	case v.Parting != nil: // the machine itself had seen it
		return nil
	case warm.same(cold[0]):
		v.Text = "computed again, warm and cold agree: the memory of that machine, or something in its process that this one lacks, such as a package variable that another match has filled"
		return nil
	}
	if w.listed == nil && warm.state != nil && cold[0].state != nil {
		if err := w.listTwins(warm.state, cold[0].state); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("computed again, the state restored at tick %d differs", w.manifest.Twin.Since)
	if cold[0].panic != "" {
		what = fmt.Sprintf("computed again, the rules with the state restored at tick %d panicked", w.manifest.Twin.Since)
	}
	v.Text = what + ", in another way: something that is not in the state decides"
	v.Grade = GradeConsistent
	if w.isExhibit(warm, cold[0]) {
		v.Grade = GradeProven
		v.Text = what + " in the same way: something that is not in the state decides, such as a stale cache, and a late joiner would differ"
	}
	return nil
}

// isExhibit reports whether two ends of the tick are those of the bundle, as far as it tells. A state that it lacks is told by the first
// field that differs, and a panic by its text.
func (w *work) isExhibit(warm, cold twinEnd) bool {
	t, whole := w.manifest.Twin, false
	for _, x := range w.exhibits {
		if x.tick != w.manifest.Tick {
			continue
		}
		if x.referee.known() && !bytes.Equal(x.referee.bytes, warm.state) || x.player.known() && !bytes.Equal(x.player.bytes, cold.state) {
			return false
		}
		whole = x.referee.known() && x.player.known()
	}
	tells := func(said, here string) bool { // a redacted bundle says nothing, and a long text is cut
		return said == "" || said == pack.Clip(here, max(len(said), minCut))
	}
	switch {
	case whole:
		return true
	case cold.panic != "" || warm.panic != "":
		return warm.panic == "" && t.Field == "" && tells(t.Cold, cold.panic)
	case w.listed == nil || len(w.listed.fields.List) == 0:
		return t.Field == ""
	}
	first := &w.listed.fields.List[0]
	return t.Field == first.Path && tells(t.Warm, first.A) && tells(t.Cold, first.B)
}

// minCut is less than the bytes of any text in a bundle that was cut.
const minCut = 190

// A twinEnd is how a tick ended: a state, or a panic of the rules.
type twinEnd struct {
	state  []byte
	ended  bool
	result []byte
	panic  string
}

func (a twinEnd) same(b twinEnd) bool {
	return bytes.Equal(a.state, b.state) && a.ended == b.ended && bytes.Equal(a.result, b.result) && a.panic == b.panic
}

func twinEndOf(s *lockstep.Simulation, err error) (e twinEnd, failed error) {
	if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
		return twinEnd{panic: fault.Error()}, nil
	}
	if err != nil {
		return e, err
	}
	result, ended := s.Ended()
	return twinEnd{state: s.AppendState(nil), ended: ended, result: bytes.Clone(result)}, nil
}

// twins computes the tick warm, and twice cold.
func (w *work) twins(g *lockstep.Game) (warm twinEnd, cold [2]twinEnd, err error) {
	m := w.manifest
	r, err := w.log.reader()
	if err != nil {
		return warm, cold, err
	}
	c, err := replay.NewCursor(r, g, m.Began)
	if err != nil {
		return warm, cold, err
	}
	if n := m.Tick - min(m.Tick, c.Tick()); int64(n) > int64(w.options.MaxTicks) {
		return warm, cold, fmt.Errorf("it is %d ticks after the state from which the machine went on, want at most %d", n, w.options.MaxTicks)
	}
	for c.Tick() < m.Began {
		if err := c.Step(); err != nil {
			return warm, cold, err
		}
	}
	sim, err := g.NewSimulation(w.log.header)
	if err == nil && (c.Tick() > 0 || sim.Hash() != c.Simulation().Hash()) {
		sim, err = restoredAt(g, w.log.header, c.Tick(), c.Simulation().AppendState(nil))
	}
	if err == nil {
		r, err = w.log.reader() // the cursor has a restored state, which may be the cold one
	}
	if err != nil {
		return warm, cold, err
	}
	var before []byte
	var frames []*lockstep.Frame
	for rec, readErr := range r.All() {
		if readErr != nil {
			return warm, cold, readErr
		}
		for f := rec.FrameAfter(sim.Tick()); f != nil && sim.Tick() < m.Tick && err == nil; f = rec.FrameAfter(sim.Tick()) {
			if sim.Tick() == m.Twin.Since {
				before = sim.AppendState(nil)
			}
			if before != nil {
				frames = append(frames, f.Clone())
			}
			err = sim.Step(f)
		}
		if sim.Tick() == m.Tick || err != nil {
			break
		}
	}
	if err == nil && sim.Tick() < m.Tick {
		return warm, cold, fmt.Errorf("the log ends after tick %d", sim.Tick())
	}
	if warm, err = twinEndOf(sim, err); err != nil {
		return warm, cold, err
	}
	if before == nil {
		return warm, cold, fmt.Errorf("no state of tick %d", m.Twin.Since)
	}
	for i := range cold {
		sim, err := restoredAt(g, w.log.header, m.Twin.Since, before)
		for k := 0; k < len(frames) && err == nil; k++ {
			err = sim.Step(frames[k])
		}
		if cold[i], err = twinEndOf(sim, err); err != nil {
			return warm, cold, err
		}
	}
	return warm, cold, nil
}

// restoredAt returns a simulation with a state, as a late joiner has it.
func restoredAt(g *lockstep.Game, h *lockstep.Header, t lockstep.Tick, state []byte) (*lockstep.Simulation, error) {
	sim, err := g.AwaitState(h)
	if err == nil {
		err = sim.Restore(t, state)
	}
	return sim, err
}

// twinReport says what the bundle claims.
func (e *Explanation) twinReport() string {
	whose := "the server"
	if e.Player != lockstep.System {
		whose = e.name(e.Player)
	}
	s := fmt.Sprintf("by the heavy mode of %s: its own state of tick %d and one restored at tick %d", whose, e.Tick, e.Twin.Since)
	if e.Twin.Field == "" {
		s += "; " + e.twinEnds()
	}
	return s
}

// twinAnswer is the title of the report.
func (e *Explanation) twinAnswer() string {
	if e.top == nil {
		return fmt.Sprintf("warm and cold differ at tick %d: %s", e.Tick, e.twinEnds())
	}
	return "warm and cold differ: " + e.differs() + ", warm → cold"
}

// twinEnds says how the two go on, if they do not differ in a field.
func (e *Explanation) twinEnds() string {
	warm, cold := cmp.Or(e.Twin.Warm, "unknown"), strings.TrimPrefix(cmp.Or(e.Twin.Cold, "unknown"), fmt.Sprintf("lockstep: tick %d: ", e.Tick))
	return fmt.Sprintf("warm: %s, cold: %s", words.Clipped(warm, MaxText), words.Clipped(cold, MaxText))
}
