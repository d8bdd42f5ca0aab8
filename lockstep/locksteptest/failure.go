package locksteptest

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Failure tells where two computations of one match differ.
type Failure struct {
	Phase string        // as in the package comment
	From  lockstep.Tick // tick of the saved state, in phases that have one
	Tick  lockstep.Tick // the first tick at which they differ
	Field string        // the first field that differs; empty if Err is set
	Got   string        // its value in the phase
	Want  string        // its value in the match that was played first
	More  int           // number of other fields that differ
	Err   error         // any other error, such as a panic

	Options Options // they play the same match again

	game   *lockstep.Game
	played []order // up to the failure
}

func (f *Failure) Error() string {
	s := "locksteptest: " + f.Phase
	if f.From > 0 {
		s += fmt.Sprintf(" of tick %d", f.From)
	}
	s += fmt.Sprintf(": tick %d: ", f.Tick)
	if f.Err != nil {
		return s + f.Err.Error()
	}
	s += fmt.Sprintf("%s: got %s, want %s", f.Field, f.Got, f.Want)
	if f.More > 0 {
		s += fmt.Sprintf(" (and %d more fields)", f.More)
	}
	return s
}

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

// compare returns a Failure unless want has the canonical bytes of the state of got.
func (m *match) compare(phase string, from lockstep.Tick, got *lockstep.Simulation, want []byte) error {
	m.buf = got.AppendState(m.buf[:0])
	if string(m.buf) == string(want) {
		return nil
	}
	f := &Failure{Phase: phase, From: from, Tick: got.Tick(), Options: m.options, game: m.game, played: m.played}
	d, err := m.game.StateSchema().Diff(m.buf, want, 1)
	if err != nil {
		f.Err = err
		return f
	}
	f.Field, f.Got, f.Want, f.More = d.List[0].Path, d.List[0].A, d.List[0].B, d.Total-1
	return f
}

// fail returns err as a Failure.
func (m *match) fail(phase string, from, t lockstep.Tick, err error) error {
	return &Failure{Phase: phase, From: from, Tick: t, Err: err, Options: m.options, game: m.game, played: m.played}
}
