package locksteptest

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Check plays a random match of a game and computes it again in other ways. It
// fails the test where they part, and says how to play the same match again.
func Check(t testing.TB, g *lockstep.Game, o Options) {
	t.Helper()
	err := Run(g, o)
	if f := (*Failure)(nil); errors.As(err, &f) {
		t.Fatalf("%v\nthe same match: %s\nthe same test: %s", f, f.Options.line(), testLine(t.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testLine returns the command that runs one test alone.
func testLine(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return "go test -count=1 -run '" + strings.Join(parts, "/") + "' ."
}

// Run is [Check] without a test: it returns a [*Failure] where two ways of
// computing the match part.
func Run(g *lockstep.Game, o Options) error {
	if err := checkSkip(o.Skip); err != nil {
		return err
	}
	m, err := newMatch(g, o.filled())
	if err != nil {
		return err
	}
	if err := m.play(); err != nil {
		return err
	}
	for _, p := range phases {
		if slices.Contains(o.Skip, p.name) {
			continue
		}
		if err := p.run(m); err != nil {
			return err
		}
	}
	return nil
}
