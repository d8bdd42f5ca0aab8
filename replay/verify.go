package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Play gives the records of a replay to visit, one after the other, each after
// follower has applied it; either may be nil. It returns nil at the end of the
// replay, and otherwise the first error of the three.
func Play(r *Reader, follower *lockstep.Follower, visit func(*lockstep.Record) error) error {
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if follower != nil {
			if err := follower.Apply(rec); err != nil {
				return err
			}
		}
		if visit != nil {
			if err := visit(rec); err != nil {
				return err
			}
		}
	}
}

// DefaultMaxTicks is the length of the longest match that is verified unless
// another limit is set: nine days of 20 ticks a second.
const DefaultMaxTicks lockstep.Tick = 1 << 24

// ErrLimit is wrapped by the error of a replay of more ticks than were to be
// simulated: a few bytes of a hostile file can claim a thousand million.
var ErrLimit = errors.New("too long")

// VerifyOptions say how to verify.
type VerifyOptions struct {
	// MaxTicks is how many ticks are simulated at the most; 0 means
	// [DefaultMaxTicks]. A longer replay is refused before it begins.
	MaxTicks lockstep.Tick

	// KeepGoing simulates on after a checksum that differs, to tell whether the
	// difference stays.
	KeepGoing bool

	// Progress is called with the tick reached from time to time; nil for nobody.
	Progress func(lockstep.Tick)
}

// A Verdict is what a verification found out.
type Verdict struct {
	Header   *lockstep.Header `json:"-"`
	Ticks    lockstep.Tick    `json:"ticks"`    // simulated
	Commands int              `json:"commands"` // applied, those of the system included
	Checked  int              `json:"checked"`  // checksums and keyframes compared
	Differed int              `json:"differed"` // of these, how many differ from the simulation
	Dissents int              `json:"dissents"` // checksums of players that differed when the match was played
	Ended    bool             `json:"ended"`    // the end record was reached
	Reason   string           `json:"reason"`   // what it says

	// First is the first difference, or nil.
	First *lockstep.DesyncError `json:"first"`
}

// Verify simulates a replay from its beginning and compares every checksum and
// keyframe in it. The verdict counts what was verified, also when there is an
// error: the first one that ended the verification, or else, where checksums
// differ, the verdict's First. The Reader stands at the beginning of the file.
func Verify(r *Reader, g *lockstep.Game, o VerifyOptions) (*Verdict, error) {
	f := g.NewFollower(lockstep.FollowerOptions{})
	v := &Verdict{}
	if err := r.checkLength(cmp.Or(o.MaxTicks, DefaultMaxTicks)); err != nil {
		return v, err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.Apply(rec)
			v.count(rec)
		}
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) {
			v.Differed++
			if v.First == nil {
				v.First = desync
			}
			if o.KeepGoing {
				err = nil
			}
		}
		v.Header, v.Ticks, v.Checked = f.Header(), f.Tick(), f.Checked()
		if err != nil {
			return v, err
		}
		if o.Progress != nil {
			o.Progress(v.Ticks)
		}
	}
	if v.First != nil {
		return v, v.First
	}
	return v, nil
}

// checkLength reads the file once, up to its end or to what is wrong with it,
// and returns an error if there are more ticks than max.
func (r *Reader) checkLength(max lockstep.Tick) error {
	ahead, err := NewReader(r.r, r.size)
	if err != nil {
		return err
	}
	first := lockstep.Tick(0)
	for {
		rec, err := ahead.Next()
		if err != nil {
			return nil // verifying comes to it again
		}
		if rec.Kind == lockstep.RecordKeyframe && ahead.tick == 0 {
			first = rec.Tick
		}
		if n := ahead.tick - first; ahead.tick > first && n > max {
			return fmt.Errorf("replay: %w: %d ticks and more, want at most %d", ErrLimit, n, max)
		}
	}
}

func (v *Verdict) count(rec *lockstep.Record) {
	switch rec.Kind {
	case lockstep.RecordFrame:
		v.Commands += len(rec.Frame.Commands)
	case lockstep.RecordDissent:
		v.Dissents++
	case lockstep.RecordEnd:
		v.Ended, v.Reason = true, rec.Text
	}
}
