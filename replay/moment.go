package replay

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
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

	// By is the player whose machine recorded the state, in a recording of another engine (see [RecordedAt]); nil for a state of
	// a keyframe or a simulation. With it, Keyframe and Agreed mean nothing.
	By     *lockstep.Player
	summed bool // a recorded state has a checksum

	Fields []Field       // parts of the state, see [Moment.Show]
	Took   time.Duration // the time of the simulation, if the caller has measured it
}

// SimulateOptions limit a simulation.
type SimulateOptions struct {
	// MaxTicks is the largest number of ticks to simulate. 0 means 262,144 and 64 more for each byte of the file, up to
	// [DefaultMaxTicks], since a file of a few bytes can claim a thousand million.
	MaxTicks lockstep.Tick

	// Progress is called from time to time with the number of simulated ticks and of all ticks. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

// progress reports progress, now and then.
func (s *SimulateOptions) progress(done, all lockstep.Tick) {
	if s.Progress != nil && (done%progressTicks == 0 || done == all) {
		s.Progress(done, all)
	}
}

// StateAt returns the state after a tick: the state of its keyframe, or one simulated from the keyframe before it. A
// simulation needs the game; without it, the error wraps [ErrNoGame]. The error is a [*TickError] if the match lacks
// the tick. It wraps a [*lockstep.DesyncError] if the simulation contradicts a checksum or keyframe on the way, or the
// next one after the tick, for which StateAt simulates up to one interval of checks further. If the file has none
// there, [Moment.Agreed] is before the tick. Nothing before the keyframe is compared. The position of the Reader is
// undefined afterwards.
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

// agrees returns an error if the checksum of a keyframe's tick, which comes before the keyframe, differs. Damage there
// says nothing about the keyframe.
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

// simulate simulates from the keyframe where r is, and takes the state.
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

// fromKeyframe takes the state of the keyframe where r is.
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
			m.Hash, m.State, m.Agreed = rec.Keyframe.Hash, append([]byte{}, rec.Keyframe.State...), rec.Tick
			return m.isWhole(r)
		}
	}
}

// isWhole returns an error if the keyframe's state does not have its checksum.
func (m *Moment) isWhole(r *Reader) error {
	schema, err := state.ParseSchema(m.Header.StateSchema)
	if err != nil {
		return err
	}
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, schema, m.State); err != nil {
		return err
	}
	if sum.Hash != m.Hash {
		return r.odd(m.Tick)
	}
	return nil
}
