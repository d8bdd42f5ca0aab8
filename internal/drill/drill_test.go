package drill

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// All tools name all faults, in more than one match.
func TestRun(t *testing.T) {
	for seed := range uint64(2) {
		r := run(t, Options{Seed: seed})
		for _, row := range r.Rows {
			if t.Logf("%+v", row); !row.Right {
				t.Errorf("seed %d: %s: %s found %s, want %s", seed, row.Fault, row.Tool, row.Found, row.Want)
			}
		}
		if r.Wrong > 0 || len(r.Rows) < 40 {
			t.Errorf("seed %d: %d wrong of %d", seed, r.Wrong, len(r.Rows))
		}
	}
}

func run(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The same seed is the same drill, and another one another.
func TestSeed(t *testing.T) {
	a, b, c := run(t, Options{Seed: 3}), run(t, Options{Seed: 3}), run(t, Options{Seed: 4})
	if fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) || fmt.Sprint(a.Rows) == fmt.Sprint(c.Rows) {
		t.Error("the seed does not decide")
	}
}

// A tool that is blind, or names the tick next to the right one, is caught, and
// nobody else is blamed for it.
func TestBlindTools(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for _, c := range []struct {
		name, tool string
		blind      func(*Tools)
		faults     int // that it does not name
	}{
		{"verify is always content", "verify", func(o *Tools) {
			o.Verify = func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verdict, error) {
				return &replay.Verdict{}, nil
			}
		}, 17},
		{"verify takes all for a cut", "verify", func(o *Tools) {
			o.Verify = func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verdict, error) {
				return &replay.Verdict{}, io.ErrUnexpectedEOF
			}
		}, 18},
		{"recover loses a tick", "recover", func(o *Tools) {
			real := o.Recover
			o.Recover = func(w *replay.Writer, r *replay.Reader) (*replay.Recovery, error) {
				found, err := real(w, r)
				found.Ticks--
				return found, err
			}
		}, 1},
		{"no reports", "desync report", func(o *Tools) {
			o.Desync = func([]lockstep.DesyncReport) []lockstep.DesyncReport { return nil }
		}, 8},
		{"a report against somebody else", "desync report", func(o *Tools) {
			o.Desync = func(r []lockstep.DesyncReport) []lockstep.DesyncReport {
				for i := range r {
					r[i].Player = (r[i].Player + 1) % players
				}
				return r
			}
		}, 7}, // where it is the referee, all players are named
		{"no difference", "diff", func(o *Tools) {
			o.Compare = func(a, b *replay.Reader) (*replay.Comparison, error) { return &replay.Comparison{}, nil }
		}, 2},
		{"nothing to bisect", "bisect", func(o *Tools) {
			o.Bisect = func(a, b *replay.Reader, g *lockstep.Game, _ replay.BisectOptions) (*replay.Bisection, error) {
				return nil, replay.ErrSame
			}
		}, 6},
		{"a bisection that stops a tick late", "bisect", func(o *Tools) {
			real := o.Bisect
			o.Bisect = func(a, b *replay.Reader, g *lockstep.Game, bo replay.BisectOptions) (*replay.Bisection, error) {
				found, err := real(a, b, g, bo)
				if err == nil {
					found.Tick++
				}
				return found, err
			}
		}, 6},
		{"equal histories", "histories", func(o *Tools) {
			o.Diverged = func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool) {
				return lockstep.Divergence{}, false
			}
		}, 6},
	} {
		tools := RealTools()
		c.blind(&tools)
		r := run(t, Options{Seed: 1, Tools: tools})
		for _, row := range r.Rows {
			if !row.Right && row.Tool != c.tool {
				t.Errorf("%s: %s: %s found %s, want %s", c.name, row.Fault, row.Tool, row.Found, row.Want)
			}
		}
		if r.Wrong != c.faults {
			t.Errorf("%s: %d wrong, want %d", c.name, r.Wrong, c.faults)
		}
	}
}

// What changes nothing is no fault, and a drill does not pretend that it was
// one.
func TestNothingPlanted(t *testing.T) {
	m, err := play(1, truthful(0))
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 1))
	if v, err := plant(m, dice, "nothing", func(*match, *rand.Rand) (*variant, error) {
		return &variant{rules: skirmish.Rules(), tick: anyTick(dice)}, nil
	}); err == nil {
		t.Errorf("planted %+v", v)
	}
	if tick, err := firstDiffering(m.states, m.copied, 1); err == nil {
		t.Errorf("the states of a true copy differ from tick %d on", tick)
	}
	failed := errors.New("no")
	if _, err := plant(m, dice, "", func(*match, *rand.Rand) (*variant, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// The table of units is as it was when a copy with a wrong entry has taken its
// turn.
func TestTableIsRestored(t *testing.T) {
	before := *skirmish.Worker.Traits()
	run(t, Options{Seed: 1})
	if after := *skirmish.Worker.Traits(); after != before {
		t.Errorf("got %+v, want %+v", after, before)
	}
}

func ExampleRun() {
	result, err := Run(Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	for _, row := range result.Rows {
		if row.Fault == "draw too many" {
			fmt.Printf("%s: %s\n", row.Tool, row.Found)
		}
	}
	fmt.Println(result.Wrong, "wrong")
	// Output:
	// desync report: desync, ticks 221 to 240, player 2, Rand
	// histories: desync, tick 238, Rand.Hi and 1 more
	// bisect: desync, tick 238, the rules, Rand.Hi and 1 more
	// verify: players differed
	// 0 wrong
}
