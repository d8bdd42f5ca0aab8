package replay

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Play gives the records of a replay to visit, one after the other, each after follower has applied it; either may be
// nil. It returns nil at the end of the replay, and otherwise the first error of the three.
func Play(r *Reader, follower *lockstep.Follower, visit func(*record.Record) error) error {
	for rec, err := range r.All() {
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
	return nil
}

// VerifyOptions say how to verify.
type VerifyOptions struct {
	// MaxTicks is how many ticks are simulated at the most; 0 means what it means in [SimulateOptions]. A longer replay
	// is refused before it begins.
	MaxTicks lockstep.Tick

	// KeepGoing simulates on after a checksum that differs, to tell whether the difference stays.
	KeepGoing bool

	// Workers is how many goroutines simulate, each from a keyframe on; 0 means one for each processor, or fewer if
	// blocks or states are so large that the workers would exceed their memory (docs/limits.md). The result does not
	// depend on it.
	Workers int

	// Progress is called from time to time with how many ticks were simulated and how many there are, by one goroutine
	// at a time; nil for nobody.
	Progress func(done, all lockstep.Tick)
}

// A Verification is the result of simulating a replay: what was compared, and what differs. It does not say who was
// wrong; package desync does.
type Verification struct {
	Header     *lockstep.Header `json:"-"`
	Ticks      lockstep.Tick    `json:"ticks"`    // simulated
	Commands   int              `json:"commands"` // applied, those of the system included
	Checked    int              `json:"checked"`  // checksums and keyframes compared
	Differed   int              `json:"differed"` // of these, how many differ from the simulation
	Mismatches int              `json:"dissents"` // checksums of players that did not match the agreed one in the match
	Ended      bool             `json:"ended"`    // the end record was reached
	Reason     string           `json:"reason"`   // what it says

	// First is the first difference, or nil. Stopped tells that the verification ended there.
	First   *lockstep.DesyncError `json:"first"`
	Stopped bool                  `json:"-"`

	// Differences are the first 131,072 differences, in order.
	Differences []*lockstep.DesyncError `json:"-"`

	// UnknownSignatures are the kinds of the file's signatures that are not known, and so were not checked.
	UnknownSignatures []int `json:"unknown_signatures,omitempty"`
}

// Verify simulates a replay from its beginning and compares every checksum and keyframe in it. The [Verification]
// counts what was verified, also when there is an error: the first one that ended the verification, or else, where
// checksums differ, its First. The Reader is left where it was.
//
// Where the file has keyframes, stretches from one to another are verified at the same time; each ends by comparing the
// keyframe that the next one began with. If anything is wrong, the rest is verified again in order, so that the result
// is always that of a single simulation of the whole match.
func Verify(r *Reader, g *lockstep.Game, o VerifyOptions) (*Verification, error) {
	s, err := r.scan(o.MaxTicks)
	var damage *DamageError
	if errors.Is(err, ErrLimit) || err != nil && !errors.As(err, &damage) {
		return &Verification{}, err
	}
	if len(s.marks) == 0 {
		return &Verification{}, verifyHeader(r, g, err)
	}
	p := &verifier{reader: r, game: g, options: o, survey: s}
	v, found := p.run()
	if found != nil { // otherwise the index may be wrong, which no stretch can tell by itself
		err = found
	}
	for _, s := range s.signatures {
		if s.key() == nil {
			v.UnknownSignatures = append(v.UnknownSignatures, int(s[0]))
		}
	}
	return v, err
}

// verifyHeader returns the error of a file without a state: if its header can be read, that it is of another game, and
// otherwise what is wrong with it.
func verifyHeader(r *Reader, g *lockstep.Game, err error) error {
	first, ferr := r.Reopen()
	if ferr != nil {
		return ferr
	}
	if rec, ferr := first.Next(); ferr == nil && rec.Kind == record.KindHeader {
		if ierr := g.CheckIdentity(rec.Header); ierr != nil {
			return ierr
		}
	}
	return err
}

func (v *Verification) count(rec *record.Record) {
	v.Commands += len(rec.Frame.Commands)
	switch rec.Kind {
	case record.KindMismatch:
		v.Mismatches++
	case record.KindEnd:
		v.Ended, v.Reason = true, rec.Text
	}
}
