package replay

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A cursor simulates a match tick by tick, from a keyframe on. It passes over
// checksums and keyframes unless it compares.
type cursor struct {
	reader   *Reader
	follower *lockstep.Follower
	empty    lockstep.Tick // left of the present run of ticks without commands
	odd      bool          // the keyframe's state is not the one that its checksum is of
	compares bool          // a checksum or a keyframe on the way that differs is an error
	agreed   lockstep.Tick // the last tick that was compared
}

// cursorAt returns a cursor at the last keyframe that is not after a tick, which
// must have the state that its checksum is of.
func cursorAt(r *Reader, g *lockstep.Game, marks []mark, t lockstep.Tick) (*cursor, error) {
	own, err := NewReader(r.r, r.size)
	if err == nil {
		err = own.seek(before(marks, t))
	}
	if err != nil {
		return nil, err
	}
	c, err := newCursor(own, g)
	if err == nil && c.odd {
		err = own.odd(c.tick())
	}
	return c, err
}

// newCursor returns a cursor at the keyframe that the reader was sent to.
func newCursor(r *Reader, g *lockstep.Game) (*cursor, error) {
	c := &cursor{reader: r, follower: g.NewFollower(lockstep.FollowerOptions{})}
	for c.follower.Simulation() == nil {
		rec, err := r.Next()
		if err != nil {
			return nil, err
		}
		err = c.follower.Apply(rec)
		if c.odd = errors.As(err, new(*lockstep.DesyncError)); err != nil && !c.odd {
			return nil, err
		}
	}
	return c, nil
}

func (c *cursor) tick() lockstep.Tick { return c.follower.Tick() }

func (c *cursor) root() uint64 { return c.follower.Simulation().Root() }

func (c *cursor) state() []byte { return c.follower.Simulation().AppendState(nil) }

// step goes on by one tick. It returns [io.EOF] at the end of the match, and
// what is wrong where the file cannot be read on.
func (c *cursor) step() error {
	for c.empty == 0 {
		rec, err := c.reader.Next()
		if err != nil {
			return err
		}
		switch rec.Kind {
		case lockstep.RecordFrame:
			return c.follower.Advance(&rec.Frame)
		case lockstep.RecordEmpty:
			c.empty = rec.Tick - c.tick()
		case lockstep.RecordChecksum, lockstep.RecordKeyframe:
			if err := c.compare(rec); err != nil {
				return err
			}
		}
	}
	c.empty--
	return c.follower.Advance(&lockstep.Frame{Tick: c.tick() + 1})
}

// compare compares a checksum or a keyframe with the simulation.
func (c *cursor) compare(rec *lockstep.Record) error {
	if !c.compares {
		return nil
	}
	before := c.follower.Checked()
	err := apply(c.follower, c.reader, rec)
	if err == nil && c.follower.Checked() > before {
		c.agreed = max(c.agreed, rec.Tick)
	}
	return err
}

// lateChecks is how many check intervals after a tick its checksum is looked for.
// Without a referee it is logged only once the players have reported.
const lateChecks = 64

// confirm compares the checksums and keyframes behind the present tick, up to the
// first one of this tick or a later one. It simulates at most limit ticks, and one
// interval of checks, to reach it. Damage there, or a panic of the game, says
// nothing about the present state.
func (c *cursor) confirm(limit lockstep.Tick) error {
	t, every := uint64(c.tick()), uint64(c.follower.Header().Settings.CheckEvery)
	for end := t + min(every, uint64(limit)); uint64(c.agreed) < t && uint64(c.tick()) < end; {
		if err := c.step(); err != nil {
			return onlyDesync(err)
		}
	}
	for uint64(c.agreed) < t && uint64(c.reader.tick) <= t+lateChecks*every {
		rec, err := c.reader.Next()
		if err != nil || rec.Kind == lockstep.RecordChecksum && rec.Tick > c.tick() {
			return nil
		}
		if (rec.Kind == lockstep.RecordChecksum || rec.Kind == lockstep.RecordKeyframe) && rec.Tick <= c.tick() {
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
