package locksteptest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Check plays a random match of a game and computes it again in other ways. If a result differs, it fails the test and
// prints how to play the same match again, and the line of code at which the results begin to differ: it lets the go command build
// the test again with probes, for at most a minute. The environment variable SAMESTEP_LINE is another time, such as 5m; off and the flag
// -short leave that out. With go test -v it prints how many commands were refused.
//
// The first Check of a test with a game, configuration and number of players lets another process of the test compute the match under
// other settings of the machine, such as another time zone (the phase "outside"); at most four do in a test. The log says it of each.
func Check(t testing.TB, g *lockstep.Game, o Options) {
	t.Helper()
	if j := program.CheckJobOf(); j != nil {
		checkTraced(t, j, g, o)
		return
	}
	check := program.CheckJob{Options: checkName(g, o)}
	m, played, err := run(g, o)
	var apart string
	if err == nil && !slices.Contains(o.Skip, outsidePhase) {
		done, why, failure := m.runOutside(t, check)
		if err = failure; why != nil {
			apart = fmt.Sprintf("; not computed in another time zone: %v", why)
		} else if done {
			apart = "; the same in another time zone"
		}
	}
	if f := (*Failure)(nil); errors.As(err, &f) {
		o.Seed = f.Options.Seed
		line := f.line(t, program.TestJob{Run: testPattern(t.Name()), Check: check})
		t.Fatalf("%v\n%sthe same match: %s\nthe same test: %s", f, line, f.Options.line(), testLine(t.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("locksteptest: seed %d: %s%s", m.options.Seed, played, apart)
	if m.twins != nil {
		t.Logf("locksteptest: seed %d: %s", m.options.Seed, m.twins)
	}
}

// testLine returns the command that runs one test alone.
func testLine(name string) string {
	return "go test -count=1 -run '" + strings.ReplaceAll(testPattern(name), "'", `'\''`) + "' ."
}

// Run is [Check] without a test: it returns a [*Failure] if a result differs, and [ErrThin] if the match proves too little. Of a match
// without a failure, it also returns what was reached.
func Run(g *lockstep.Game, o Options) (*Reached, error) {
	_, t, err := run(g, o)
	if t == nil {
		return nil, err
	}
	return t.reached.Reached(), err
}

func run(g *lockstep.Game, o Options) (*match, *tally, error) {
	m, err := compute(g, o)
	if err != nil {
		return nil, nil, err
	}
	var sum asked
	sum.add(m.twins)
	t := m.tally()
	return m, t, cmp.Or(sum.thin(m), t.thin(&m.options))
}

// compute plays a match and runs all phases. With an error it returns what was played until then, or nil if nothing was.
func compute(g *lockstep.Game, o Options) (*match, error) {
	if err := checkSkip(o.Skip); err != nil {
		return nil, err
	}
	o, err := o.measured(g, longest, nil)
	if err != nil {
		return nil, err
	}
	m, err := newMatch(g, o)
	if err == nil {
		err = m.compute()
	}
	return m, err
}
