package faultinjection

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// A tool that finds nothing, or the next tick, is noticed at each fault.
func TestBlindTools(t *testing.T) {
	testenv.Night(t)
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
			Compare: func(a, b *replay.Reader) (*bisect.Comparison, error) { return &bisect.Comparison{}, nil },
			Bisect: func(a, b *replay.Reader, g *lockstep.Game, _ bisect.Options) (*bisect.Bisection, error) {
				return nil, bisect.ErrSame
			},
			Explain: func(*replay.Bundle, desync.Options) (*desync.Explanation, error) { return &desync.Explanation{}, nil },
			Diverged: func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool) {
				return lockstep.Divergence{}, false
			},
			Desync: func([]coordinator.DesyncReport) []coordinator.DesyncReport { return nil },
		}, map[string]int{"verify": 29, "diff": 2, "bisect": 18, "explain": 44, "explain again": 23, "histories": 18, "desync report": 20}},
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
			Compare: func(a, b *replay.Reader) (*bisect.Comparison, error) {
				found, err := real.Compare(a, b)
				if err == nil {
					found.Frame.Tick++
				}
				return found, err
			},
			Bisect: func(a, b *replay.Reader, g *lockstep.Game, o bisect.Options) (*bisect.Bisection, error) {
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
					r[i].Player = (r[i].Player + 1) % 4
				}
				return r
			}, // if the referee is wrong, all players are named
		}, map[string]int{"verify": 30, "recover": 1, "diff": 2, "bisect": 18, "explain": 42, "explain again": 23, "histories": 18, "desync report": 19}},
	} {
		r := run(t, Options{Subject: coins(), Seed: 1, tools: c.tools})
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

// An explanation that excludes ticks by a guess, or one that does not look for the field, is noticed.
func TestGuessingTools(t *testing.T) {
	testenv.Long(t)
	real := realTools()
	for name, guess := range map[string]func(e *desync.Explanation){
		"ticks": func(e *desync.Explanation) {
			if e.Cause != nil {
				e.First = desync.Span{From: e.Cause.When.To, To: e.Cause.When.To}
			}
		},
		"fields": func(e *desync.Explanation) { e.Places.List[0].First.Path = "Units[0].MoveX" }, // always the same
	} {
		s := boxes()
		if err := s.measure(1); err != nil {
			t.Fatal(err)
		}
		tools := real
		tools.Explain = func(b *replay.Bundle, o desync.Options) (*desync.Explanation, error) {
			e, err := real.Explain(b, o)
			if err == nil {
				guess(e)
			}
			return e, err
		}
		d := &drill{subject: s, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: tools, result: &Result{}}
		if err := d.noFault(); err != nil {
			t.Fatal(err)
		}
		for _, k := range mistakes {
			if err := d.anyBug(k.name, k.plant); err != nil && !errors.Is(err, errNoPlace) {
				t.Fatal(err)
			}
		}
		d.figures()
		if last := d.result.Rows[len(d.result.Rows)-1]; last.Right || last.Fault != "all rule bugs" {
			t.Errorf("%s: got %+v, want it to be noticed", name, last)
		}
		wrong := slices.ContainsFunc(d.result.Rows, func(r Row) bool { return r.Tool == "explain again" && !r.Right })
		if wrong != (name == "fields") { // the machine's answers say the tick
			t.Errorf("%s: explain again is wrong %t", name, wrong)
		}
	}
}

// A bisection that always names the same field is noticed.
func TestConstantBisection(t *testing.T) {
	s := boxes()
	if err := s.measure(1); err != nil {
		t.Fatal(err)
	}
	tools := realTools()
	tools.Bisect = func(a, b *replay.Reader, g *lockstep.Game, o bisect.Options) (*bisect.Bisection, error) {
		found, err := bisect.Replays(a, b, g, o)
		if err == nil && len(found.Fields.List) > 0 {
			found.Fields.List[0].First.Path = "Tick"
		}
		return found, err
	}
	d := &drill{subject: s, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: tools, result: &Result{}}
	if err := d.noFault(); err != nil {
		t.Fatal(err)
	}
	if err := d.copyFault("changed rule", changedRule); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(d.result.Rows, func(r Row) bool { return r.Tool == "bisect" }); i < 0 || d.result.Rows[i].Right {
		t.Errorf("got %+v, want it to be noticed", d.result.Rows)
	}
}
