package replay

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Cursor simulates a match tick by tick, from a keyframe on. It does not compare the file's checksums and keyframes.
// It belongs to one goroutine.
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

// NewCursor returns a Cursor at the last keyframe up to tick t, or else at the first one. It reads the file
// independently of r. It returns a [*DamageError] if the keyframe's state does not have the keyframe's checksum.
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

// newCursor returns a Cursor at the keyframe where the reader is.
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

// Frame returns the frame of the next tick, and does not simulate it. It reads the records up to there, with the errors of
// Step. The frame is valid until the Cursor reads on.
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

// Step simulates one tick. It returns [io.EOF] at the end of the match, and a [*DamageError] where the file becomes
// unreadable.
func (c *Cursor) Step() error {
	frame, err := c.Frame()
	if err != nil {
		return err
	}
	return c.follower.Advance(frame)
}

// compare compares a checksum or a keyframe with the simulation.
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

// lateChecks is for how many check intervals after a tick confirm looks for its checksum. Without a referee the
// coordinator logs it only after the players' reports.
const lateChecks = 64

// confirm compares the checksums and keyframes after the present tick, up to the first one of this tick or a later one.
// It simulates at most limit ticks and one interval of checks for that. Damage there, or a panic of the game, says
// nothing about the present state.
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
