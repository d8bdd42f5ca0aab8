// Package locksteptest checks that a game is deterministic: that all machines compute the same match from the same
// commands. Game authors run it on their own game:
//
//	func TestDeterminism(t *testing.T) {
//		locksteptest.Check(t, lockstep.MustGame(mygame.Rules()), locksteptest.Options{Config: &mygame.Config{}})
//	}
//
// Check plays a random match: well-formed commands of every registered kind, with random and often small values, in random
// order of arrival, while players leave and return, and the match pauses and changes its speed. Then it computes the match
// again in other ways, and compares every tick:
//
//	phase       what it does                                        what it finds
//	new         makes the state at tick 0 twice                     a clock, global randomness
//	play        calls Options.Play                                  a bot that writes, or commands that cannot be sent
//	validate    validates commands                                  a Validate that changes the state
//	panic       plays the match                                     a Step or Validate that panics
//	configuration
//	            compares that of the match after each tick          New, Step or Validate that writes into it
//	two runs    gives two coordinators the same commands, in        the order of a map, globals, a game that
//	            another order of arrival; one has an observer;      depends on whether it is observed; a
//	            counts the commands of kinds with a limit           coordinator that counts wrongly
//	follower    follows the log as it is written                    something of New that is not in the state
//
//	each        computes the elements of Turn.Each backwards, in a  an element that reads what another one writes,
//	            mixed order, and on 1 to 8 goroutines               or a place that many write
//	cold twin   restores the state before each tick on a new        stale derived data, such as a cache that a
//	            machine, which steps once                           change does not invalidate
//	restore     restores a saved state over a later one             a derived field that decides something, or that
//	                                                                is not rebuilt; a command that is kept
//	late join   restores a saved state on a new machine             the same, where the phase above still had it
//	copy        copies a state into another simulation              memory that two states share
//	redo        predicts some ticks without the commands of         traces of a future that did not come
//	            others, and then computes them again
//	refused     plays the match without the refused commands        a Validate that has side effects
//	derived     restores a state over one of another match          a Derive that depends on what was there before
//	fields      changes one field of the state, and so the          a Derive that changes the state
//	            checksum
//	round trip  encodes, decodes, describes and dumps states        a Describe that panics, varies, or changes the
//	            and commands                                        command
//	machine     sets another GOMAXPROCS and garbage collection      goroutines that race, finalizers, weak pointers
//	reading     observes, draws, describes and dumps the match      a renderer that writes
//	views       makes views for spectators and all players, twice   a View that writes, or depends on more than the
//	            and from a restored state                           state and the viewer
//	answers     lets others do something else, and compares         an answer that tells what a view hides
//	            answers to commands while a player sees the same
//	outside     sets another time zone and other environment        a rule that asks the machine for them
//	            variables, in another process (Check only)
//
// Check always runs the first group. Options.Skip leaves out others. After restoring or copying a state, Validate must
// give the same answers as before.
//
// A failure names the phase, the tick, and the first field that differs with both values, and tells how to run the same
// match again. [Check] also names the line of code, if the go command and the sources are there: docs/desync-line.md describes
// it. [Failure.Shrink] makes the match small. [Failure.WriteTest] and [Failure.WriteReplay] write it down.
//
// [CheckView] checks that the views of a game, the answers to commands, and their effects keep a secret. [Search] plays random matches for a given time. [Fuzz] lets a fuzzer choose them. [Cluster] plays matches with a server,
// its disk, and players over a bad network, in virtual time. [Golden] verifies matches that earlier versions wrote.
// docs/testing.md leads through all of them.
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
	m, err := o.match(g)
	if err == nil {
		err = m.compute()
	}
	return m, err
}
