package faultinjection

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// All tools find all faults, in more than one match.
func TestRun(t *testing.T) {
	before := *skirmish.Worker.Traits()
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
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
	if after := *skirmish.Worker.Traits(); after != before {
		t.Errorf("the table of units was %+v and is %+v", before, after)
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

// The seed determines the run.
func TestSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	a, b, c := run(t, Options{Seed: 2}), run(t, Options{Seed: 2}), run(t, Options{Seed: 3})
	if fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) || fmt.Sprint(a.Rows) == fmt.Sprint(c.Rows) {
		t.Error("the seed does not determine the run")
	}
}

// A tool that finds nothing, or the next tick, is noticed at each fault.
func TestBlindTools(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	real := realTools()
	for _, c := range []struct {
		name  string
		tools toolset
		wrong map[string]int // answers, by tool
	}{
		{"nothing is ever wrong", toolset{
			Attribute: real.Attribute,
			Verify: func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verification, error) {
				return &replay.Verification{}, nil
			},
			Recover: real.Recover,
			Compare: func(a, b *replay.Reader) (*desync.Comparison, error) { return &desync.Comparison{}, nil },
			Bisect: func(a, b *replay.Reader, g *lockstep.Game, _ desync.BisectOptions) (*desync.Bisection, error) {
				return nil, desync.ErrSame
			},
			Explain: func(*replay.Bundle, desync.Options) (*desync.Explanation, error) { return &desync.Explanation{}, nil },
			Diverged: func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool) {
				return lockstep.Divergence{}, false
			},
			Desync: func([]coordinator.DesyncReport) []coordinator.DesyncReport { return nil },
		}, map[string]int{"verify": 17, "diff": 2, "bisect": 6, "explain": 7, "histories": 6, "desync report": 8}},
		{"it was somebody else, and a tick later", toolset{
			Attribute: real.Attribute,
			Verify: func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verification, error) {
				return &replay.Verification{}, io.ErrUnexpectedEOF
			},
			Recover: func(w *replay.Writer, r *replay.Reader) (*replay.Recovery, error) {
				found, err := real.Recover(w, r)
				found.Ticks++
				return found, err
			},
			Compare: func(a, b *replay.Reader) (*desync.Comparison, error) {
				found, err := real.Compare(a, b)
				if err == nil {
					found.Frame.Tick++
				}
				return found, err
			},
			Bisect: func(a, b *replay.Reader, g *lockstep.Game, o desync.BisectOptions) (*desync.Bisection, error) {
				found, err := real.Bisect(a, b, g, o)
				if err == nil {
					found.Tick++
				}
				return found, err
			},
			Explain: func(b *replay.Bundle, o desync.Options) (*desync.Explanation, error) {
				e, err := real.Explain(b, o)
				if err == nil {
					e.Verdict.Party = desync.WrongBuild
				}
				return e, err
			},
			Diverged: func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool) {
				found, ok := real.Diverged(a, b, limit)
				found.Tick++
				return found, ok
			},
			Desync: func(r []coordinator.DesyncReport) []coordinator.DesyncReport {
				for i := range r {
					r[i].Player = (r[i].Player + 1) % players
				}
				return r
			}, // if the referee is wrong, all players are named
		}, map[string]int{"verify": 18, "recover": 1, "diff": 2, "bisect": 6, "explain": 7, "histories": 6, "desync report": 7}},
	} {
		r := run(t, Options{Seed: 1, tools: c.tools})
		wrong := map[string]int{}
		for _, row := range r.Rows {
			if !row.Right {
				wrong[row.Tool]++
			}
		}
		if diff := cmp.Diff(c.wrong, wrong); diff != "" {
			t.Errorf("%s: wrong answers (-want +got):\n%s", c.name, diff)
		}
	}
}

// A fault that changes nothing is an error.
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
	// explain: extra draw, ticks 221 to 240, player 2, Rand
	// verify: players differed, tick 240, player 2
	// 0 wrong
}
