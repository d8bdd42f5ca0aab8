package locksteptest

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Check plays a random match of a game and computes it again in other ways. It
// fails the test where they part, and says how to play the same match again.
func Check(t testing.TB, g *lockstep.Game, o Options) {
	t.Helper()
	err := Run(g, o)
	if f := (*Failure)(nil); errors.As(err, &f) {
		t.Fatalf("%v\nthe same match: %s", f, f.Options.line())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Run is [Check] without a test: it returns a [*Failure] where two ways of
// computing the match part.
func Run(g *lockstep.Game, o Options) error {
	m, err := newMatch(g, o.filled())
	if err != nil {
		return err
	}
	if err := m.play(); err != nil {
		return err
	}
	for _, phase := range []func(every lockstep.Tick) error{m.restore, m.join, m.copies} {
		if err := phase(m.options.Every); err != nil {
			return err
		}
	}
	return nil
}
