package replay

import (
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Play gives each record of a replay to follower and then to visit. Either may be nil. It returns nil at the end of the
// replay, and otherwise the first error of the three.
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

// VerifyOptions set how Verify works.
type VerifyOptions struct {
	// MaxTicks is the largest number of ticks to simulate; 0 means the default of [SimulateOptions]. Verify refuses a
	// longer replay before it begins.
	MaxTicks lockstep.Tick

	// KeepGoing continues after a checksum that differs, to see whether the difference stays.
	KeepGoing bool

	// Workers is the number of goroutines that simulate, each from a keyframe on. 0 means one for each processor, or
	// fewer if blocks or states are so large that the workers would exceed their memory (docs/limits.md). The result
	// does not depend on it.
	Workers int

	// Now is the clock with which the verdict of package desync waits for a whole second before it says that the file was edited,
	// because rules that read a clock compute otherwise then. Nil: it does not wait.
	Now func() time.Time

	// Apart lets a process of its own compute the ticks again on which the verdict of package desync rests, see its Options. Nil: it is not
	// proven.
	Apart func(job []byte) ([]byte, error)

	// Progress is called from time to time, by one goroutine at a time, with the number of simulated ticks and of all
	// ticks. Nil disables it.
	Progress func(done, all lockstep.Tick)
}

// A Verification is the result of Verify: what was compared, and what differs. Package desync decides who was wrong.
type Verification struct {
	Header     *lockstep.Header `json:"-"`
	Began      lockstep.Tick    `json:"began,omitempty"` // the tick of the first state
	Ticks      lockstep.Tick    `json:"ticks"`           // the last simulated one
	Commands   int              `json:"commands"`        // applied, those of the system included
	Checked    int              `json:"checked"`         // checksums and keyframes compared
	Differed   int              `json:"differed"`        // of these, how many differ from the simulation
	Mismatches int              `json:"mismatches"`      // checksums of players that did not match the agreed one in the match
	Ended      bool             `json:"ended"`           // the end record was reached
	Reason     string           `json:"reason"`          // what it says

	// First is the first difference, or nil. Stopped says that the verification ended there.
	First   *lockstep.DesyncError `json:"first"`
	Stopped bool                  `json:"-"`

	// Panic is the first panic of the rules, in the file or here, or nil.
	Panic *Panic `json:"panic,omitempty"`

	// Differences are the first 131,072 differences, in order.
	Differences []*lockstep.DesyncError `json:"-"`

	// UnknownSignatures are the kinds of the file's signatures that are unknown and were not checked.
	UnknownSignatures []int `json:"unknown_signatures,omitempty"`
}

// Verify simulates a replay from its beginning and compares every checksum and keyframe in it. With an error, the
// [Verification] counts the part before it. The error is the first fault in the order of the file: if checksums differ,
// its First, if the file has a panic of the rules, its Panic; and what ended the verification. Verify does not move the Reader.
//
// If the file has several keyframes, workers verify the stretches between them concurrently; each stretch ends by
// comparing the keyframe of the next one. If anything is wrong, Verify repeats the rest in order, so the result is
// always that of one simulation of the whole match.
func Verify(r *Reader, g *lockstep.Game, o VerifyOptions) (*Verification, error) {
	s, err := r.scan(o.MaxTicks)
	var damage *DamageError
	if err != nil && !errors.As(err, &damage) {
		return &Verification{}, err
	}
	if len(s.marks) == 0 {
		return &Verification{}, verifyHeader(r, g, err)
	}
	p := &verifier{reader: r, game: g, options: o, survey: s}
	v, found := p.run()
	if found != nil { // otherwise the index may be wrong, which no stretch shows
		err = found
	}
	v.Began = s.marks[0].tick
	for _, s := range s.signatures {
		if s.key() == nil {
			v.UnknownSignatures = append(v.UnknownSignatures, int(s[0]))
		}
	}
	return v, err
}

// verifyHeader returns the error of a file without a state: another game's header, or else err.
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
