package replay

import (
	"errors"
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

// VerifyOptions say how to verify.
type VerifyOptions struct {
	// MaxTicks is how many ticks are simulated at the most; 0 means what it means
	// in [SimulateOptions]. A longer replay is refused before it begins.
	MaxTicks lockstep.Tick

	// KeepGoing simulates on after a checksum that differs, to tell whether the
	// difference stays.
	KeepGoing bool

	// Workers is how many goroutines simulate, each from a keyframe on; 0 means
	// one for each processor, or fewer if blocks or states are so large that the
	// workers would exceed their memory (docs/limits.md). The verdict does not
	// depend on it.
	Workers int

	// Progress is called from time to time with how many ticks were simulated and
	// how many there are, by one goroutine at a time; nil for nobody.
	Progress func(done, all lockstep.Tick)
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

	// Blames say who was wrong, in the order of their first ticks: at First, or if
	// the verification kept going, at all checks.
	Blames []Blame `json:"blames"`

	// UnknownSignatures are the kinds of the file's signatures that are not known,
	// and so were not checked.
	UnknownSignatures []int `json:"unknown_signatures,omitempty"`

	mismatches []*lockstep.DesyncError // those that differ, in order; no more than maxEvidence
}

// Verify simulates a replay from its beginning and compares every checksum and
// keyframe in it. The verdict counts what was verified, also when there is an
// error: the first one that ended the verification, or else, where checksums
// differ, the verdict's First. The Reader is left where it was.
//
// Where the file has keyframes, stretches from one to another are verified at
// the same time; each ends by comparing the keyframe that the next one began
// with. If anything is wrong, the rest is verified again in order, so that the
// verdict is always the one of a single simulation of the whole match.
func Verify(r *Reader, g *lockstep.Game, o VerifyOptions) (*Verdict, error) {
	s, err := r.scan(o.MaxTicks)
	var damage *DamageError
	if errors.Is(err, ErrLimit) || err != nil && !errors.As(err, &damage) {
		return &Verdict{}, err
	}
	if len(s.marks) == 0 {
		return &Verdict{}, verifyHeader(r, g, err)
	}
	p := &verification{reader: r, game: g, options: o, survey: s}
	v, found := p.run()
	if found != nil { // otherwise the index may be wrong, which no stretch can tell by itself
		err = found
	}
	for _, s := range s.signatures {
		if s.key() == nil {
			v.UnknownSignatures = append(v.UnknownSignatures, int(s[0]))
		}
	}
	v.hear(r, g, &o)
	return v, err
}

// verifyHeader returns the error of a file without a state: if its header can
// be read, that it is of another game, and otherwise what is wrong with it.
func verifyHeader(r *Reader, g *lockstep.Game, err error) error {
	first, ferr := NewReader(r.r, r.size)
	if ferr != nil {
		return ferr
	}
	if rec, ferr := first.Next(); ferr == nil && rec.Kind == lockstep.RecordHeader {
		if ierr := g.CheckIdentity(rec.Header); ierr != nil {
			return ierr
		}
	}
	return err
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
