package bisect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// ErrSame means that no checksum differs.
var ErrSame = errors.New("desync: no checksum differs")

// Replays finds the first tick at which the states of two replays of one match differ, and the fields. It first compares
// their checksums and keyframes, which gives the last equal and the first different tick. Then it simulates both
// replays from the last keyframe before these ticks. Without the game, it only compares records. If nothing differs, the error is
// [ErrSame], and the result says how much was compared; if nothing could be compared, it wraps [desync.ErrNothingCompared]. If the replays
// have different schemas, it is a [*lockstep.IdentityError].
func Replays(a, b *replay.Reader, g *lockstep.Game, o Options) (*Bisection, error) {
	c, x, y, err := compare(a, b)
	if c == nil {
		return nil, err
	}
	for _, d := range c.Header {
		if strings.HasPrefix(d.Field, "state schema") {
			return nil, &lockstep.IdentityError{Field: d.Field, Got: d.B, Want: d.A}
		}
	}
	s := &bisector{game: g, options: o, a: recording{reader: a, evidence: x}, b: recording{reader: b, evidence: y}, frame: c.Frame}
	s.found.Compared, s.found.A, s.found.B = c.Compared, &c.A, &c.B
	if c.Checksum == nil && c.Frame == nil {
		s.good, s.known = c.agreed, c.known
		return s.same(err)
	}
	s.otherGame = cmp.Or(o.Other, g)
	switch {
	case c.Checksum == nil:
		s.bracketFrame(c)
	case c.Frame != nil && c.Frame.Tick <= c.Checksum.Agreed: // the commands differ before an equal checksum
		s.bracketFrame(c)
		s.bad = c.Checksum.Tick
	default:
		s.good, s.known, s.bad = c.Checksum.Agreed, c.Checksum.Known, c.Checksum.Tick
	}
	return s.run()
}

// Reports is [Replays] of a replay and reports of the same match. Where the replay has no checksum, it compares
// the reports with the simulation, or without the game, with another player's reports. It compares a damaged replay up
// to the damage; if nothing differs, the error contains the damage.
func Reports(r *replay.Reader, reports []Report, g *lockstep.Game, o Options) (*Bisection, error) {
	x, err := newOutline(r)
	if err != nil {
		return nil, err
	}
	for !x.done {
		x.next()
	}
	s := &bisector{game: g, otherGame: g, options: o, a: recording{reader: r, evidence: x.evidence}, b: recording{evidence: reported(reports)}}
	if g == nil {
		s.a.evidence.addMismatches(x.mismatches, s.b.evidence)
	}
	var c Comparison
	c.checks(s.a.evidence, s.b.evidence)
	s.found.Compared, s.found.A = c.Compared, &x.side
	if c.Checksum != nil {
		s.good, s.known, s.bad = c.Checksum.Agreed, c.Checksum.Known, c.Checksum.Tick
	} else if err := s.probe(&c, x.side.Ticks); err == ErrSame {
		return s.same(x.err)
	} else if err != nil {
		return nil, errors.Join(err, x.err)
	}
	return s.run()
}

// same returns the result if no checksum differs. The error may also be that of a damaged replay.
func (s *bisector) same(damage error) (*Bisection, error) {
	if s.found.Compared == 0 {
		return nil, errors.Join(fmt.Errorf("%w: there is no tick of which both have a checksum", desync.ErrNothingCompared), damage)
	}
	s.found.Agreed, s.found.Known = s.good, s.known
	return &s.found, errors.Join(ErrSame, damage)
}

// agreedBefore is how many ticks before a check at which both sides agree are simulated again, if that check is all that is known.
const agreedBefore = 64

// A recording is one of the two copies of a match that are compared.
type recording struct {
	reader   *replay.Reader // nil if there are only reports
	evidence evidence
}

// A bisector finds the first tick that differs, after tick good and up to tick bad.
type bisector struct {
	game      *lockstep.Game // may be nil
	otherGame *lockstep.Game // that computes B's states
	options   Options
	a, b      recording
	frame     *FrameDifference
	good, bad lockstep.Tick
	known     bool // the states are equal at good; if false, they may differ from the beginning
	schema    *state.Schema
	found     Bisection
}

// bracketFrame sets good and bad around the first frame that differs, where no checksum differs. Bad is the next check,
// or the end.
func (s *bisector) bracketFrame(c *Comparison) {
	s.bad = min(c.A.Ticks, c.B.Ticks)
	for _, i := range s.a.evidence {
		y := s.b.evidence.find(i.tick)
		switch {
		case y == nil:
		case i.tick < c.Frame.Tick:
			s.good, s.known = i.tick, true
		default:
			s.bad = i.tick
			return
		}
	}
}

// probe finds the first report that differs from the simulation by binary search, and sets good and bad around it. It
// is for reports that no checksum of the replay contradicts. The last tick of the replay is ticks.
func (s *bisector) probe(c *Comparison, ticks lockstep.Tick) error {
	reports := s.b.evidence[:s.b.evidence.after(ticks)]
	for len(reports) > 0 && s.a.evidence.find(reports[0].tick) != nil {
		s.good, s.known, reports = reports[0].tick, true, reports[1:] // equal, or there would be a bracket
	}
	if len(reports) == 0 || s.game == nil {
		return ErrSame
	}
	differs := func(i *item) (bool, error) {
		hash, simulated, err := replay.HashAt(s.a.reader, s.game, i.tick, i.tick, &s.options.SimulateOptions)
		s.found.Simulated += simulated
		return hash != i.hash, err
	}
	last := len(reports) - 1
	if wrong, err := differs(&reports[last]); err != nil || !wrong {
		s.good, s.known = max(s.good, reports[last].tick), true
		s.found.Compared++
		return cmp.Or(err, ErrSame)
	}
	first, end := 0, last // the first that differs is among them
	for first < end {
		half := (first + end) / 2
		wrong, err := differs(&reports[half])
		switch {
		case err != nil:
			return err
		case wrong:
			end = half
		default:
			first, s.good, s.known = half+1, reports[half].tick, true
		}
	}
	s.bad = reports[end].tick
	return nil
}

func (s *bisector) run() (*Bisection, error) {
	s.found.Tick, s.found.Agreed, s.found.Frame, s.found.Cause = s.bad, s.good, s.frame, OriginUnknown
	s.found.Known = s.known
	s.found.Exact = s.known && s.good+1 == s.bad
	s.found.Fields.List = []state.Place{}
	keyframes := s.a.reader.Index()
	if s.game == nil || len(keyframes) == 0 {
		return &s.found, s.keyframes()
	}
	s.schema = s.game.StateSchema()
	if !s.known && s.bad <= keyframes[0] {
		s.found.Cause, s.found.Exact = OriginStart, true
		return &s.found, s.keyframes()
	}
	w, err := s.start()
	if err != nil {
		return nil, err
	}
	err = w.run()
	if errors.Is(err, errOtherGame) {
		if s.settle(); s.found.Cause == OriginUnfixed {
			return &s.found, nil
		}
		return &s.found, s.keyframes()
	}
	s.found.Exact = s.found.Exact || s.found.Known && s.found.Agreed+1 == s.found.Tick
	s.settle()
	return &s.found, err
}

// settle simulates the ticks that decide again, on each side, before anything is said of them: rules without a fixed result show
// nothing.
func (s *bisector) settle() {
	f := &s.found
	var pasts []desync.Past
	for i, side := range []*recording{&s.a, &s.b} {
		to, since, game := f.Tick, f.Agreed, s.game
		if f.Cause == OriginUnknown { // it differs from what both agree on
			to, since = s.good, s.good-min(s.good, agreedBefore)
		}
		if i > 0 {
			if game = s.otherGame; side.reader == nil || f.Cause != OriginCommands && f.Cause != OriginGames {
				break
			}
		}
		if next := side.evidence.after(to - 1); (f.EditedA && i == 0 || f.EditedB && i == 1) && next < len(side.evidence) {
			to = side.evidence[next].tick
		}
		pasts = append(pasts, desync.Past{Replay: side.reader, Game: game, Agreed: min(since, max(to, 1)-1), Tick: to})
	}
	o := desync.Options{MaxTicks: int(s.options.MaxTicks), Now: s.options.Now, Apart: s.options.Apart}
	if parted, _, _ := desync.Repeat(o, pasts...); parted != nil { // where a tick cannot be repeated, the walk has come farther
		s.unfixed(parted)
	}
}

// unfixed notes that the simulation shows nothing. What the evidence shows stays.
func (s *bisector) unfixed(p *desync.Parting) {
	f := &s.found
	if f.Cause != OriginGames && f.Cause != OriginCommands {
		f.Tick, f.Agreed, f.Known, f.Exact = s.bad, s.good, s.known, s.known && s.good+1 == s.bad
	}
	f.Cause, f.Parting, f.Section, f.EditedA, f.EditedB, f.Reconstructed = OriginUnfixed, p, "", false, false, false
	f.Fields, f.All, f.FieldsTick = state.Places{List: []state.Place{}}, state.Differences{}, 0
}

// keyframes compares the first keyframes that differ, without a simulation.
func (s *bisector) keyframes() error {
	for i := range s.a.evidence {
		x := &s.a.evidence[i]
		y := s.b.evidence.find(x.tick)
		if y == nil || x.hash == y.hash || rank(*x)+rank(*y) > 0 {
			continue
		}
		m, err := replay.StateAt(s.a.reader, nil, x.tick, replay.SimulateOptions{})
		if errors.Is(err, replay.ErrNoGame) { // written later than the tick
			continue
		}
		if err != nil {
			return err
		}
		if s.schema, err = state.ParseSchema(m.Header.StateSchema); err != nil {
			return err
		}
		other, err := s.b.state(y)
		if err != nil {
			return err
		}
		return s.fields(x.tick, m.State, other)
	}
	return nil
}

func (s *recording) state(i *item) ([]byte, error) {
	if i.report != nil {
		return i.report.State, nil
	}
	r, err := s.reader.Reopen()
	if err != nil {
		return nil, err
	}
	m, err := replay.StateAt(r, nil, i.tick, replay.SimulateOptions{})
	if err != nil {
		return nil, err
	}
	return m.State, nil
}

// fields notes the fields in which two states of a tick differ.
func (s *bisector) fields(t lockstep.Tick, a, b []byte) error {
	fields, places, err := s.diff(t, a, b)
	if err != nil {
		return fmt.Errorf("desync: states of tick %d: %w", t, err)
	}
	s.found.Fields, s.found.All, s.found.FieldsTick = places, fields, t
	if t == s.found.Tick && !bytes.Equal(a, b) && s.found.Section == "" {
		var x, y checksum.Sum
		if checksum.OfBytes(&x, s.schema, a) == nil && checksum.OfBytes(&y, s.schema, b) == nil {
			m, _ := checksum.Compare(x, y, s.schema)
			s.found.Section = m.Name
		}
	}
	return nil
}

// diff compares two states of a tick, and orders the fields by cause if the match can be simulated up to there.
func (s *bisector) diff(t lockstep.Tick, a, b []byte) (state.Differences, state.Places, error) {
	o := &s.options
	if s.game == nil || !s.found.Known || s.found.Agreed >= t {
		return desync.DiffStates(s.schema, a, b, o.Path)
	}
	past := desync.Past{Replay: s.a.reader, Game: s.game, Agreed: s.found.Agreed, Tick: t}
	return past.DiffStates(a, b, desync.Options{Path: o.Path, MaxTicks: int(o.MaxTicks), Now: o.Now})
}

// errOtherGame ends a walk where the simulation differs from a checksum that both sides agree on.
var errOtherGame = errors.New("both sides were computed by another game")

// A walk simulates both sides from the good tick to the bad one.
type walk struct {
	*bisector
	first, second *replay.Cursor // of A and B; second is nil if the simulation of A is that of B
	from          lockstep.Tick  // of the keyframe
	goodA, goodB  lockstep.Tick  // the last ticks at which they are right
}

// start returns a walk that begins at the last keyframes that are not after the good tick.
func (s *bisector) start() (*walk, error) {
	w := &walk{bisector: s, goodA: s.good, goodB: s.good}
	var err error
	if w.first, err = replay.NewCursor(s.a.reader, s.game, s.good); err != nil {
		return nil, err
	}
	w.from = w.first.Tick()
	if s.b.reader != nil && (s.otherGame != s.game || s.frame != nil && s.frame.Tick <= s.bad) {
		if w.second, err = replay.NewCursor(s.b.reader, s.otherGame, s.good); err != nil {
			return nil, err
		}
		w.from = min(w.from, w.second.Tick())
	}
	return w, s.a.reader.CheckTicks(max(s.bad, w.from)-w.from, s.options.MaxTicks)
}

// run simulates until the states differ, or a side's checksum differs from its simulation.
func (w *walk) run() error {
	t := max(w.good, w.first.Tick())
	if w.second != nil {
		t = max(t, w.second.Tick())
	}
	for ; t <= w.bad; t++ {
		if err := w.advance(t); err != nil {
			return err
		}
		if n := t - w.from; w.options.MaxTicks > 0 && n > w.options.MaxTicks { // of a walk to the end
			return w.a.reader.CheckTicks(n, w.options.MaxTicks)
		}
		hash := w.first.Simulation().Hash()
		if w.second != nil && w.second.Simulation().Hash() != hash {
			return w.parted(t)
		}
		x, y := w.a.evidence.find(t), w.b.evidence.find(t)
		wrongA, wrongB := x != nil && x.hash != hash, y != nil && y.hash != hash
		switch {
		case (wrongA || wrongB) && t == w.good && w.known:
			return errOtherGame
		case wrongA || wrongB:
			return w.contradicted(t, wrongA, wrongB)
		}
		if x != nil {
			w.goodA = t
		}
		if y != nil {
			w.goodB = t
		}
	}
	return fmt.Errorf("%w, nor does a state up to tick %d", ErrSame, w.bad)
}

// advance simulates both sides up to a tick.
func (w *walk) advance(t lockstep.Tick) error {
	for _, c := range []*replay.Cursor{w.first, w.second} {
		for c != nil && c.Tick() < t {
			if err := c.Step(); err == io.EOF {
				return &replay.TickError{Tick: t, First: w.from, Last: c.Tick()}
			} else if err != nil {
				return err
			}
			w.found.Simulated++
			if c == w.first && c.Tick() <= w.bad {
				w.progress(c.Tick())
			}
		}
	}
	return nil
}

// progress reports the progress up to a tick, from time to time.
func (w *walk) progress(t lockstep.Tick) {
	if done := t - w.from; w.options.Progress != nil && (done%256 == 0 || t == w.bad) {
		w.options.Progress(done, w.bad-w.from)
	}
}

// parted notes that the two simulations differ at a tick.
func (w *walk) parted(t lockstep.Tick) error {
	w.found.Tick, w.found.Cause = t, OriginGames
	if w.frame != nil && w.frame.Tick <= t {
		w.found.Cause = OriginCommands
	}
	if t > w.good {
		w.found.Agreed, w.found.Known = t-1, true
	}
	w.found.Exact = t > w.good || !w.known
	if err := w.fields(t, w.first.Simulation().AppendState(nil), w.second.Simulation().AppendState(nil)); err != nil || w.found.Cause != OriginCommands {
		return err
	}
	var err error
	if w.found.EditedA, err = w.edited(w.first, &w.a); err == nil {
		w.found.EditedB, err = w.edited(w.second, &w.b)
	}
	return err
}

// edited reports whether a side's own frames do not give its next checksum.
func (w *walk) edited(c *replay.Cursor, own *recording) (bool, error) {
	e := own.evidence
	next := e.after(c.Tick() - 1)
	if next == len(e) || own.reader.CheckTicks(e[next].tick-w.from, w.options.MaxTicks) != nil {
		return false, nil
	}
	for c.Tick() < e[next].tick {
		if err := c.Step(); err != nil {
			return false, err
		}
		w.found.Simulated++
	}
	return c.Simulation().Hash() != e[next].hash, nil
}

// contradicted notes that a side's checksum of a tick differs from its simulation.
func (w *walk) contradicted(t lockstep.Tick, a, b bool) error {
	wrong := &w.b
	w.found.Tick = t
	switch {
	case a && b:
		w.found.Cause, w.found.Agreed = OriginBoth, min(w.goodA, w.goodB)
	case a:
		w.found.Cause, w.found.Agreed, wrong = OriginA, w.goodA, &w.a
	default:
		w.found.Cause, w.found.Agreed = OriginB, w.goodB
	}
	w.found.Known = w.known || w.found.Agreed > w.good
	i := wrong.evidence.find(t)
	if i.report != nil && i.report.Sections != nil {
		var own checksum.Sum
		w.first.Simulation().Sum(&own)
		m, _ := checksum.Compare(own, checksum.Sum{Hash: i.hash, Sections: i.report.Sections}, w.schema)
		w.found.Section = m.Name
	}
	if rank(*i) > 0 {
		own := w.first.Simulation().AppendState(nil)
		other := invert(w.schema, own, i.hash, cmp.Or(w.options.MaxSearch, DefaultMaxSearch), w.options.SearchProgress)
		if other != nil {
			return w.reconstructed(wrong, own, other)
		}
	}
	return w.states(wrong, i)
}

// reconstructed notes a state that a hash search found for the wrong side.
func (w *walk) reconstructed(wrong *recording, own, other []byte) error {
	w.found.Reconstructed = true
	return w.compare(wrong, w.found.Tick, own, other)
}

// compare compares the simulation's state of a tick with the wrong side's.
func (w *walk) compare(wrong *recording, t lockstep.Tick, own, other []byte) error {
	if wrong == &w.a {
		own, other = other, own
	}
	return w.fields(t, own, other)
}

// states compares the simulation with the first known state of the wrong side, from item first on. If that state is of
// a later tick, it tries the state's differences at the item's tick, until one gives the item's checksum.
func (w *walk) states(wrong *recording, first *item) error {
	w.second = nil
	before := w.first.Simulation().AppendState(nil)
	for k := range wrong.evidence {
		i := &wrong.evidence[k]
		if i.tick < first.tick || rank(*i) > 0 {
			continue
		}
		if w.a.reader.CheckTicks(i.tick-w.from, w.options.MaxTicks) != nil {
			return nil
		}
		other, err := wrong.state(i)
		if errors.Is(err, replay.ErrNoGame) { // written later than the tick
			continue
		}
		if err != nil {
			return err
		}
		if w.advance(i.tick) != nil {
			return nil // the other one ends before
		}
		own := w.first.Simulation().AppendState(nil)
		if i.tick > first.tick && w.options.MaxSearch >= 0 {
			if changed := transfer(w.schema, before, own, other, first.hash); changed != nil {
				return w.reconstructed(wrong, before, changed)
			}
		}
		return w.compare(wrong, i.tick, own, other)
	}
	return nil
}

// Games finds the first tick at which two builds of a game compute different states from the commands of one replay, and
// the fields. It compares the states of every tick, beginning with those that the builds make of the configuration. Both games
// must accept the header of the replay. If no state differs, there is no error, and the result says Same. The result is never
// nil, as that of [Files].
func Games(a *replay.File, g, other *lockstep.Game, o Options) (*Bisection, error) {
	x, err := openSide(a, replay.Games{g})
	if err == nil {
		err = x.noGame
	}
	if err != nil {
		return refused(fileError(a, err))
	}
	h, err := a.Header()
	if err != nil {
		return refused(fileError(a, err))
	}
	found, err := bisectGames(x.reader, h, g, other, o)
	return x.finish(found, nil, "B", o, err)
}

// bisectGames is [Games] of a match with a header. It returns [ErrSame] if no state differs.
func bisectGames(r *replay.Reader, h *lockstep.Header, g, other *lockstep.Game, o Options) (*Bisection, error) {
	s := &bisector{game: g, otherGame: other, options: o, a: recording{reader: r}, b: recording{reader: r}, schema: g.StateSchema()}
	s.found.Fields.List = []state.Place{}
	if err := s.compareStarts(h); err != nil || s.found.Cause == OriginStart {
		return &s.found, err
	}
	s.bad = record.MaxTick
	w := &walk{bisector: s}
	var err error
	if w.first, err = replay.NewCursor(r, g, 0); err != nil {
		return nil, err
	}
	if w.second, err = replay.NewCursor(r, other, 0); err != nil {
		return nil, err
	}
	w.from = w.first.Tick()
	s.good, s.known, s.options.Progress = w.from, true, nil // nobody knows where it ends
	err = w.run()
	if ended := errors.As(err, new(*replay.TickError)); ended || errors.As(err, new(*replay.DamageError)) {
		s.found.Agreed, s.found.Known, s.found.Compared = w.first.Tick(), true, int(w.first.Tick()-w.from)+1
		if ended {
			err = nil
		}
		err = errors.Join(ErrSame, err)
	} else if err == nil {
		s.settle()
	}
	return &s.found, err
}

// compareStarts compares the states that the games make of the configuration.
func (s *bisector) compareStarts(h *lockstep.Header) error {
	var states [2][]byte
	for i, g := range []*lockstep.Game{s.game, s.otherGame} {
		sim, err := g.NewSimulation(h)
		if err != nil {
			return err
		}
		states[i] = sim.AppendState(nil)
	}
	if string(states[0]) == string(states[1]) {
		return nil
	}
	s.found.Cause, s.found.Exact = OriginStart, true
	return s.fields(0, states[0], states[1])
}
