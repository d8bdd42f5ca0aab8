package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Moment is the state after one tick of a match.
type Moment struct {
	Tick     lockstep.Tick
	Keyframe lockstep.Tick // it was simulated from there
	Agreed   lockstep.Tick // the last tick whose checksum in the file equals the simulation's; before Tick if no later check was reached
	Hash     uint64        // checksum
	State    []byte        // canonical bytes
	Header   *lockstep.Header

	// By is the player whose machine recorded the state, see [RecordedAt]; nil for other states. With it, Keyframe and Agreed mean nothing.
	By     *lockstep.Player
	summed bool // a recorded state has a checksum

	Fields []Field       // parts of the state, see [Moment.Show]
	Took   time.Duration // the time of the simulation, if the caller has measured it
}

// SimulateOptions limit a simulation.
type SimulateOptions struct {
	// MaxTicks limits the simulated ticks. 0 means 262,144 and 64 more for each byte of the file, up to [DefaultMaxTicks].
	MaxTicks lockstep.Tick

	// Progress is called from time to time with the number of simulated ticks and of all ticks. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

func (s *SimulateOptions) progress(done, all lockstep.Tick) {
	if s.Progress != nil && (done%progressTicks == 0 || done == all) {
		s.Progress(done, all)
	}
}

// StateAt returns the state after a tick: that of its keyframe, or one simulated from the keyframe before it. Without the game, the error
// of a simulation wraps [ErrNoGame]. It is a [*TickError] if the match lacks the tick, and wraps a [*lockstep.DesyncError] if the
// simulation contradicts a checksum or keyframe on the way, or the next one within an interval of checks; if there is none,
// [Moment.Agreed] is before the tick. Nothing before the keyframe is compared. The position of the Reader is undefined afterwards.
func StateAt(r *Reader, g *lockstep.Game, t lockstep.Tick, o SimulateOptions) (*Moment, error) {
	return stateAt(r, g, t, o, true)
}

// stateAt is StateAt with or without comparisons. A caller that doubts the checksums does not compare.
func stateAt(r *Reader, g *lockstep.Game, t lockstep.Tick, o SimulateOptions, compares bool) (*Moment, error) {
	m := &Moment{Tick: t}
	var err error
	if m.Keyframe, err = r.Seek(t); err != nil {
		return nil, err
	}
	if compares {
		if err := r.agrees(m.Keyframe); err != nil {
			return nil, fmt.Errorf("replay: state of tick %d: the keyframe of tick %d contradicts the checksum of its tick: %w", t, m.Keyframe, err)
		}
		if _, err := r.Seek(t); err != nil {
			return nil, err
		}
	}
	switch {
	case m.Keyframe >= t:
		err = m.fromKeyframe(r)
	case g == nil:
		err = missing(r, t)
	default:
		if err = r.CheckTicks(t-m.Keyframe, o.MaxTicks); err == nil {
			err = m.simulate(r, g, o, compares)
		}
	}
	var desync *lockstep.DesyncError
	if errors.As(err, &desync) {
		err = fmt.Errorf("replay: state of tick %d: the simulation from the keyframe of tick %d contradicts the file, first at tick %d: %w", t, m.Keyframe, desync.Tick, err)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// HashAt simulates from the last keyframe up to tick begin to tick t, without comparing the checksums in the file. It
// returns the checksum of the state there, and the number of simulated ticks.
func HashAt(r *Reader, g *lockstep.Game, begin, t lockstep.Tick, o *SimulateOptions) (hash uint64, simulated int, err error) {
	c, err := NewCursor(r, g, begin)
	if err != nil {
		return 0, 0, err
	}
	from := c.Tick()
	if from > t {
		return 0, 0, &TickError{Tick: t, First: from, Last: from}
	}
	if err := r.CheckTicks(t-from, o.MaxTicks); err != nil {
		return 0, 0, err
	}
	for c.Tick() < t {
		if err := c.Step(); err == io.EOF {
			return 0, 0, &TickError{Tick: t, First: from, Last: c.Tick()}
		} else if err != nil {
			return 0, 0, err
		}
		o.progress(c.Tick()-from, t-from)
	}
	return c.Simulation().Hash(), int(t - from), nil
}

// agrees returns an error if the checksum of a keyframe's tick differs. Damage before the keyframe says nothing about it.
func (r *Reader) agrees(t lockstep.Tick) error {
	if t == 0 {
		return nil
	}
	if k, err := r.Seek(t - 1); err != nil || k >= t {
		return nil // the first keyframe
	}
	var agreed *lockstep.DesyncError
	for {
		rec, err := r.Next()
		switch {
		case err != nil || rec.Tick > t:
			return nil
		case rec.Kind == record.KindChecksum && rec.Tick == t:
			agreed = &lockstep.DesyncError{Tick: t, Want: rec.Hash, Keyframe: true}
		case rec.Kind == record.KindKeyframe && rec.Tick == t:
			if agreed != nil && agreed.Want != rec.Keyframe.Hash {
				agreed.Got = rec.Keyframe.Hash
				return agreed
			}
			return nil
		}
	}
}

func (m *Moment) simulate(r *Reader, g *lockstep.Game, o SimulateOptions, compares bool) error {
	c, err := newCursor(r, g)
	if err != nil {
		return err
	}
	if compares && c.odd {
		return r.odd(m.Keyframe)
	}
	c.compares, c.agreed = compares, m.Keyframe
	for c.Tick() < m.Tick {
		if err := c.Step(); err == io.EOF {
			return missing(r, m.Tick)
		} else if err != nil {
			return err
		}
		o.progress(c.Tick()-m.Keyframe, m.Tick-m.Keyframe)
	}
	m.Header, m.Hash, m.State = c.follower.Header(), c.Simulation().Hash(), c.Simulation().AppendState(nil)
	if compares {
		err = c.confirm(maxTicks(o.MaxTicks, r.size) - (m.Tick - m.Keyframe))
	}
	m.Agreed = c.agreed
	return err
}

func (m *Moment) fromKeyframe(r *Reader) error {
	for {
		rec, err := r.Next()
		switch {
		case err != nil:
			return err
		case rec.Kind == record.KindHeader:
			m.Header = rec.Header
		case rec.Kind == record.KindKeyframe && rec.Tick > m.Tick:
			return missing(r, m.Tick)
		case rec.Kind == record.KindKeyframe:
			if !r.holds(m.Header, &rec.Keyframe) {
				return r.odd(m.Tick)
			}
			m.Hash, m.State, m.Agreed = rec.Keyframe.Hash, append([]byte{}, rec.Keyframe.State...), rec.Tick
			return nil
		}
	}
}

// A Field is a leaf of a state, as text.
type Field struct {
	Path  string `json:"path"`  // such as "Units[ID=34].Pos.X", as [state.Schema.Names] names it
	Value string `json:"value"` // as [state.Value.String] gives it
}

// Show lets text and JSON show the leaves at or below a path, see [state.Schema.Lookup]. The error wraps [state.ErrPath] for a wrong path.
func (m *Moment) Show(path string) error {
	schema, err := state.ParseSchema(m.Header.StateSchema)
	if err != nil {
		return err
	}
	leaves, err := schema.LeavesAt(m.State, path)
	if err != nil {
		return err
	}
	m.Fields = []Field{}
	name := schema.Names(m.State)
	for v := range leaves {
		m.Fields = append(m.Fields, Field{name(v.Path), v.String()})
	}
	return nil
}

// Agreement says up to which tick the simulation agrees with the file.
func (m *Moment) Agreement() string {
	text := fmt.Sprintf("agrees with the file up to tick %d", m.Agreed)
	if m.Agreed < m.Tick {
		text += "; no later check was reached"
	}
	return text
}

// WriteText writes the Moment for people: one line, and one for each of its Fields.
func (m *Moment) WriteText(w io.Writer) error {
	took := ""
	if m.Took > 0 {
		took = " in " + words.Seconds(m.Took)
	}
	text := fmt.Sprintf("%s  %s, simulated %s from the keyframe of tick %d%s, %s", checksum.FormatHash(m.Hash),
		words.Size(len(m.State)), words.Count(m.Tick-m.Keyframe, "tick"), m.Keyframe, took, m.Agreement())
	if m.By != nil {
		text = m.recorded()
	}
	_, err := fmt.Fprintf(w, "tick %d  %s\n", m.Tick, text)
	for _, f := range m.Fields {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s %s\n", f.Path, f.Value)
		}
	}
	return err
}

// MarshalJSON returns the Moment as samestep replay seek --json prints it, without the state itself.
func (m *Moment) MarshalJSON() ([]byte, error) {
	text := struct {
		Tick     lockstep.Tick    `json:"tick"`
		By       *lockstep.Player `json:"by,omitempty"`
		Keyframe *lockstep.Tick   `json:"keyframe,omitempty"`
		Agreed   *lockstep.Tick   `json:"agreed,omitempty"`
		Checksum string           `json:"checksum,omitempty"`
		Bytes    int              `json:"bytes"`
		Seconds  float64          `json:"seconds"`
		Fields   []Field          `json:"fields,omitempty"`
	}{m.Tick, m.By, &m.Keyframe, &m.Agreed, checksum.FormatHash(m.Hash), len(m.State), m.Took.Seconds(), m.Fields}
	if m.By != nil {
		if text.Keyframe, text.Agreed = nil, nil; !m.summed {
			text.Checksum = ""
		}
	}
	return json.Marshal(text)
}

// A Cursor simulates a match tick by tick, from a keyframe on, without comparing checksums and keyframes. It belongs to one goroutine.
type Cursor struct {
	reader   *Reader
	follower *lockstep.Follower
	rec      *record.Record // the last one read, whose ticks are next
	odd      bool           // the keyframe's state does not have its checksum
	compares bool           // a checksum or keyframe that differs is an error
	agreed   lockstep.Tick  // the last tick that was compared
	panics   bool           // the frame of a panic follows the last one
	panicked *lockstep.Frame
}

// NewCursor returns a Cursor at the last keyframe up to tick t, or the first. A state without its checksum is a [*DamageError].
func NewCursor(r *Reader, g *lockstep.Game, t lockstep.Tick) (*Cursor, error) {
	own, err := r.Reopen()
	if err == nil {
		_, err = own.Seek(t)
	}
	if err != nil {
		return nil, err
	}
	c, err := newCursor(own, g)
	if err == nil && c.odd {
		err = own.odd(c.Tick())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func newCursor(r *Reader, g *lockstep.Game) (*Cursor, error) {
	c := &Cursor{reader: r, follower: g.NewFollower(lockstep.FollowerOptions{})}
	for c.follower.Simulation() == nil {
		var err error
		if c.rec, err = r.Next(); err != nil {
			return nil, err
		}
		err = c.follower.Apply(c.rec)
		if c.odd = errors.As(err, new(*lockstep.DesyncError)); err != nil && !c.odd {
			return nil, err
		}
	}
	return c, nil
}

// Tick returns the last simulated tick, or that of the keyframe.
func (c *Cursor) Tick() lockstep.Tick { return c.follower.Tick() }

// Simulation returns the simulation. Its state is that of Tick.
func (c *Cursor) Simulation() *lockstep.Simulation { return c.follower.Simulation() }

// Compare lets the Cursor compare the checksums and keyframes that it comes to. For each that contradicts the simulation,
// Step or Frame returns a [*lockstep.DesyncError] once, and goes on when it is called again.
func (c *Cursor) Compare() { c.compares = true }

// TakePanic lets the Cursor go on with the frame on which the rules panicked, if the match has no tick after that: Step computes
// it again, and asks the rules before if they panicked when they were asked.
func (c *Cursor) TakePanic() { c.panics = true }

// Agreed returns the last tick whose checksum or keyframe was compared and is that of the simulation, or else 0.
func (c *Cursor) Agreed() lockstep.Tick { return c.agreed }

// Frame returns the frame of the next tick, valid until the Cursor reads on, and does not simulate it. It has the errors of Step.
func (c *Cursor) Frame() (*lockstep.Frame, error) {
	for {
		if frame := c.rec.FrameAfter(c.Tick()); frame != nil {
			return frame, nil
		}
		rec, err := c.reader.Next()
		if err != nil {
			if f := c.panicked; c.panics && f != nil && f.Tick == c.Tick()+1 {
				return f, nil
			}
			return nil, err
		}
		if c.rec = rec; rec.Kind == record.KindPanic {
			c.panicked = rec.Panic.Frame.Clone()
		}
		if err := c.compare(rec); err != nil {
			return nil, err
		}
	}
}

// Step simulates one tick. It returns [io.EOF] at the end of the match, and a [*DamageError] where the file becomes unreadable.
func (c *Cursor) Step() error {
	frame, err := c.Frame()
	if err != nil {
		return err
	}
	return c.follower.Advance(frame)
}

func (c *Cursor) compare(rec *record.Record) error {
	if !c.compares || rec.Kind != record.KindChecksum && rec.Kind != record.KindKeyframe {
		return nil
	}
	before := c.follower.Checked()
	err := apply(c.follower, c.reader, rec)
	if err == nil && c.follower.Checked() > before {
		c.agreed = max(c.agreed, rec.Tick)
	}
	return err
}

// lateChecks is for how many check intervals confirm looks for a checksum: without a referee it is logged after the players' reports.
const lateChecks = 64

// confirm compares the checksums and keyframes after the present tick, up to the first one of this tick or a later one, and simulates at
// most limit ticks and one interval of checks for that. Damage there, or a panic of the game, says nothing about the present state.
func (c *Cursor) confirm(limit lockstep.Tick) error {
	t, every := uint64(c.Tick()), uint64(c.follower.Header().Settings.CheckEvery)
	for end := t + min(every, uint64(limit)); uint64(c.agreed) < t && uint64(c.Tick()) < end; {
		if err := c.Step(); err != nil {
			return onlyDesync(err)
		}
	}
	for uint64(c.agreed) < t && uint64(c.reader.tick) <= t+lateChecks*every {
		rec, err := c.reader.Next()
		if err != nil || rec.Kind == record.KindChecksum && rec.Tick > c.Tick() {
			return nil
		}
		if (rec.Kind == record.KindChecksum || rec.Kind == record.KindKeyframe) && rec.Tick <= c.Tick() {
			if err := c.compare(rec); err != nil {
				return onlyDesync(err)
			}
		}
	}
	return nil
}

// onlyDesync returns err if the file and the simulation contradict each other.
func onlyDesync(err error) error {
	if errors.As(err, new(*lockstep.DesyncError)) {
		return err
	}
	return nil
}

// RecordedAt returns the state of a tick in a recording of another engine. Its checksum is the one that the player reported, and
// cannot be compared. Without such a state, the error is a [*NoStateError], or a [*TickError] if the match lacks the tick.
func RecordedAt(r *Reader, t lockstep.Tick) (*Moment, error) {
	own, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	found := &Recorded{only: func(tick lockstep.Tick) bool { return tick == t }}
	var (
		header         lockstep.Header
		first, last    lockstep.Tick
		silent, differ [256]bool // players
		sums           [256]uint64
		reported       [256]bool
	)
	err = Play(own, nil, func(rec *record.Record) error {
		if rec.Ticks() > 0 {
			last = rec.Tick
		}
		switch {
		case rec.Kind == record.KindHeader:
			header = *rec.Header
		case rec.Kind == record.KindKeyframe && last == 0:
			first, last = rec.Tick, rec.Tick
		case rec.Event == record.EventReports:
			silent[rec.Player] = rec.Text != "yes"
		case rec.Kind == record.KindChecksum && rec.Tick == t:
			for p := range sums {
				if !silent[p] && !differ[p] {
					sums[p], reported[p] = rec.Hash, true
				}
			}
		case rec.Kind == record.KindMismatch && rec.Tick == t:
			sums[rec.Player], reported[rec.Player], differ[rec.Player] = rec.Hash, true, true
		}
		return found.Add(rec)
	})
	s, missing := found.At(t)
	switch {
	case missing == nil: // damage after it does not matter
	case err != nil:
		return nil, err
	case t < first || t >= last: // the last tick has the commands after the last state
		return nil, &TickError{Tick: t, First: first, Last: max(last, 1) - 1}
	default:
		return nil, missing
	}
	header.StateSchema = found.Schema.AppendDescription(nil)
	m := &Moment{Tick: t, By: &s.Player, State: s.State, Header: &header, Hash: sums[s.Player], summed: reported[s.Player]}
	return m, nil
}

func (m *Moment) recorded() string {
	sum := "no checksum"
	if m.summed {
		sum = checksum.FormatHash(m.Hash)
	}
	return fmt.Sprintf("%s  %s, recorded by player %d", sum, words.Size(len(m.State)), *m.By)
}
