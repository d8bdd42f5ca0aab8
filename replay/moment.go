package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Moment is the state after one tick of a match.
type Moment struct {
	Tick     lockstep.Tick
	Keyframe lockstep.Tick // it was simulated from there
	Root     uint64        // checksum
	State    []byte        // canonical bytes
	Header   *lockstep.Header
}

// A TickError tells that a replay does not have a tick, but First to Last.
type TickError struct {
	Tick, First, Last lockstep.Tick
}

func (e *TickError) Error() string {
	return fmt.Sprintf("replay: tick %d: the replay has ticks %d to %d", e.Tick, e.First, e.Last)
}

// ErrNoGame means that the states of a match are needed that only the game's
// code can make.
var ErrNoGame = errors.New("no keyframe, and the game's code is not at hand")

// SimulateOptions say how much may be simulated.
type SimulateOptions struct {
	// MaxTicks is how many ticks are simulated at the most; 0 means
	// [DefaultMaxTicks]. A file of a few bytes can claim a thousand million.
	MaxTicks lockstep.Tick

	// Progress is called from time to time with how many ticks were simulated and
	// how many there are; nil for nobody.
	Progress func(done, all lockstep.Tick)
}

// limit returns ErrLimit if so many ticks are too many.
func (s *SimulateOptions) limit(ticks lockstep.Tick) error {
	if max := cmp.Or(s.MaxTicks, DefaultMaxTicks); ticks > max {
		return fmt.Errorf("replay: %w: %d ticks to simulate, want at most %d", ErrLimit, ticks, max)
	}
	return nil
}

// progress tells of progress, now and then.
func (s *SimulateOptions) progress(done, all lockstep.Tick) {
	if s.Progress != nil && (done%progressTicks == 0 || done == all) {
		s.Progress(done, all)
	}
}

// StateAt returns the state after a tick: that of its keyframe, or else
// simulated from the keyframe before it, for which the game is needed; without
// it, the error wraps [ErrNoGame]. It is a [*TickError] if the match does not
// have the tick. The Reader is left somewhere.
func StateAt(r *Reader, g *lockstep.Game, t lockstep.Tick, o SimulateOptions) (*Moment, error) {
	m := &Moment{Tick: t}
	var err error
	if m.Keyframe, err = r.Seek(t); err != nil {
		return nil, err
	}
	if m.Keyframe >= t {
		return m, m.fromKeyframe(r)
	}
	if g == nil {
		return nil, missing(r, t)
	}
	if err := o.limit(t - m.Keyframe); err != nil {
		return nil, err
	}
	c, err := newCursor(r, g)
	if err != nil {
		return nil, err
	}
	for c.tick() < t {
		if err := c.step(); err == io.EOF {
			return nil, missing(r, t)
		} else if err != nil {
			return nil, err
		}
		o.progress(c.tick()-m.Keyframe, t-m.Keyframe)
	}
	m.Header, m.Root, m.State = c.follower.Header(), c.root(), c.state()
	return m, nil
}

// fromKeyframe takes the state of the keyframe that r was sent to.
func (m *Moment) fromKeyframe(r *Reader) error {
	for {
		rec, err := r.Next()
		switch {
		case err != nil:
			return err
		case rec.Kind == lockstep.RecordHeader:
			m.Header = rec.Header
		case rec.Kind == lockstep.RecordKeyframe && rec.Tick > m.Tick:
			return missing(r, m.Tick)
		case rec.Kind == lockstep.RecordKeyframe:
			m.Root, m.State = rec.Keyframe.Root, append([]byte{}, rec.Keyframe.State...)
			return nil
		}
	}
}

// missing returns why there is no state of a tick.
func missing(r *Reader, t lockstep.Tick) error {
	s, err := r.scan(lockstep.MaxTick)
	if len(s.marks) == 0 {
		return err
	}
	if t > s.last && err != nil {
		return err
	}
	if first := s.marks[0].tick; t < first || t > s.last {
		return &TickError{t, first, s.last}
	}
	return fmt.Errorf("replay: tick %d: %w", t, ErrNoGame)
}
