package desync

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// ErrSame means that no checksum differs.
var ErrSame = errors.New("desync: no checksum differs")

// Bisect finds the first tick at which the states of two replays of one match differ, and the fields. It first compares
// their checksums and keyframes, which gives the last equal and the first different tick. Then it simulates both
// replays from the last keyframe before these ticks. Without the game, it only compares records. If nothing differs, the error is
// [ErrSame], and the result says how much was compared; if nothing could be compared, it wraps [ErrNothingCompared]. If the replays
// have different schemas, it is a [*lockstep.IdentityError].
func Bisect(a, b *replay.Reader, g *lockstep.Game, o BisectOptions) (*Bisection, error) {
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

// BisectReports is [Bisect] of a replay and reports of the same match. Where the replay has no checksum, it compares
// the reports with the simulation, or without the game, with another player's reports. It compares a damaged replay up
// to the damage; if nothing differs, the error contains the damage.
func BisectReports(r *replay.Reader, reports []Report, g *lockstep.Game, o BisectOptions) (*Bisection, error) {
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
		return nil, errors.Join(fmt.Errorf("%w: there is no tick of which both have a checksum", ErrNothingCompared), damage)
	}
	s.found.Agreed, s.found.Known = s.good, s.known
	return &s.found, errors.Join(ErrSame, damage)
}

// A recording is one of the two copies of a match that are compared.
type recording struct {
	reader   *replay.Reader // nil if there are only reports
	evidence evidence
}

// A bisector finds the first tick that differs, after tick good and up to tick bad.
type bisector struct {
	game      *lockstep.Game // may be nil
	otherGame *lockstep.Game // that computes B's states
	options   BisectOptions
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
		hash, simulated, err := hashAt(s.a.reader, s.game, i.tick, i.tick, &s.options.SimulateOptions)
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
	o := Options{MaxTicks: int(s.options.MaxTicks), Budget: s.options.Budget, Now: s.options.Now, Apart: s.options.Apart}.withDefaults()
	var all []*repeater
	for i, side := range []*recording{&s.a, &s.b} {
		to, since, game := f.Tick, f.Agreed, s.game
		if f.Cause == OriginUnknown { // it differs from what both agree on
			to, since = s.good, s.good-min(s.good, lookBack/4)
		}
		if i > 0 {
			if game = s.otherGame; side.reader == nil || f.Cause != OriginCommands && f.Cause != OriginGames {
				break
			}
		}
		if next := side.evidence.after(to - 1); (f.EditedA && i == 0 || f.EditedB && i == 1) && next < len(side.evidence) {
			to = side.evidence[next].tick
		}
		p, err := repeatBefore(side.reader, game, to, max(to-since, 1), o)
		if err != nil {
			continue // the walk has come farther
		}
		all = append(all, p)
	}
	for _, p := range all {
		p.later()
		if parted := p.parting(); parted != nil {
			s.unfixed(parted)
			return
		}
	}
}

// unfixed notes that the simulation shows nothing. What the evidence shows stays.
func (s *bisector) unfixed(p *Parting) {
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

// hashAt simulates from the last keyframe up to tick begin to tick t, without comparing the checksums in the file. It
// returns the checksum of the state there, and the number of simulated ticks.
func hashAt(r *replay.Reader, g *lockstep.Game, begin, t lockstep.Tick, o *replay.SimulateOptions) (hash uint64, simulated int, err error) {
	c, err := replay.NewCursor(r, g, begin)
	if err != nil {
		return 0, 0, err
	}
	from := c.Tick()
	if from > t {
		return 0, 0, &replay.TickError{Tick: t, First: from, Last: from}
	}
	if err := r.CheckTicks(t-from, o.MaxTicks); err != nil {
		return 0, 0, err
	}
	for c.Tick() < t {
		if err := c.Step(); err == io.EOF {
			return 0, 0, &replay.TickError{Tick: t, First: from, Last: c.Tick()}
		} else if err != nil {
			return 0, 0, err
		}
		if o.Progress != nil && (c.Tick()-from)%256 == 0 {
			o.Progress(c.Tick()-from, t-from)
		}
	}
	return c.Simulation().Hash(), int(t - from), nil
}

// state returns the state of an item that has one.
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
		return DiffStates(s.schema, a, b, o.Path)
	}
	past := Past{Replay: s.a.reader, Game: s.game, Agreed: s.found.Agreed, Tick: t}
	return past.DiffStates(a, b, Options{Path: o.Path, MaxTicks: int(o.MaxTicks), Budget: o.Budget, Now: o.Now})
}
