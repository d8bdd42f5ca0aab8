//go:build !js && !wasip1

package locksteptest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// outsiders are rules that ask the machine, and what Check says about them. The environment variable OUTSIDER chooses one.
var outsiders = map[string]struct {
	step func(*pasture)
	want string // "" for none
}{
	"zone": {
		func(w *pasture) { w.Dice += uint64(time.Unix(int64(w.Dice%1000)*3600, 0).Hour()) },
		"outside: tick 1: with another time zone (time.Local): Dice: got ",
	},
	"variable": {
		func(w *pasture) { w.Dice += uint64(len(os.Getenv("LANG"))) },
		"outside: tick 1: with other environment variables (HOME, LANG, LC_ALL, TZ, USER): Dice: got ",
	},
	"process": {
		func(w *pasture) { w.Dice += uint64(os.Getpid()) },
		"outside: tick 1: the same match has another state in another process on this machine",
	},
	"counter": { // of this process: changes in it whatever the surroundings
		func(w *pasture) {
			if runs++; runs > 3*60 && os.Getenv(program.CheckVariable) != "" {
				w.Dice++
			}
		},
		"outside: tick 1: Dice: got ",
	},
	"utc": {func(w *pasture) { w.Dice += uint64(time.Unix(int64(w.Dice%1000)*3600, 0).UTC().Hour()) }, ""},
}

var runs int

// TestOutsider is the test of a game of [outsiders], in a process that TestOutside starts.
func TestOutsider(t *testing.T) {
	o, ok := outsiders[os.Getenv("OUTSIDER")]
	if !ok {
		t.Skip("TestOutside runs it")
	}
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		o.step(w)
	}
	g := lockstep.MustGame(rules)
	first := options()
	first.Seed = 7
	locksteptest.Check(t, g, locksteptest.Options{Config: &pastureConfig{Herds: 2}, Ticks: 20, Skip: []string{"outside"}})
	locksteptest.Check(t, g, first)
	locksteptest.Check(t, g, options())
	other := options()
	other.Players++
	locksteptest.Check(t, g, other)
}

// Check fails a game that asks the machine for its time zone or a variable, and says which. A game that does not, passes, and the log says
// that it was looked at.
func TestOutside(t *testing.T) {
	t.Parallel()
	for name, o := range outsiders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOutsider$", "-test.v")
			c.Env = append(os.Environ(), "OUTSIDER="+name)
			b, err := c.CombinedOutput()
			out := string(b)
			switch {
			case o.want == "" && (err != nil || strings.Count(out, "the same in another time zone") != 2):
				t.Errorf("got %v, want that it passes, and a look in another time zone for each number of players:\n%s", err, out)
			case o.want != "" && (err == nil || !strings.Contains(out, o.want)):
				t.Errorf("got %v, want %q in:\n%s", err, o.want, out)
			}
		})
	}
}

// A test that no other process comes to is told, and does not fail.
func TestNotOutside(t *testing.T) {
	if os.Getenv("NOT_OUTSIDE") != "" {
		if os.Getenv(program.CheckVariable) == "" {
			locksteptest.Check(t, lockstep.MustGame(pastureRules()), options())
		}
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNotOutside$", "-test.v")
	c.Env = append(os.Environ(), "NOT_OUTSIDE=1")
	const want = "not computed in another time zone: another process of the test: it never reaches a check with the same options"
	if b, err := c.CombinedOutput(); err != nil || !strings.Contains(string(b), want) {
		t.Errorf("got %v, want %q in:\n%s", err, want, b)
	}
}
