package desync_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// What the machine computes again excludes causes that do not lead to its states, and confirms none: the cause that is named with
// the true answer is that without an answer, and none is named if one state hash of the answer contradicts it.
func TestAnswerExcludes(t *testing.T) {
	x := newTable(t, inDrill(func(w *world, t *turn, i int, step step) {
		t.Commands[i+1].Value.(*skirmish.Move).To.X ^= 8
		step(w, t)
	}), false)
	x.orders = drill
	x.play(t, 400)
	const from, to, first = 140, 160, 152
	hashes := func(f *lockstep.Follower, end lockstep.Tick) (all []string) {
		for tick := lockstep.Tick(from + 1); tick <= end; tick++ {
			sum, _ := f.Sum(tick)
			all = append(all, checksum.FormatHash(sum.Hash))
		}
		return all
	}
	run := hashes(x.copies[victim], to)
	other := slices.Clone(run)
	other[first-from] = "0000000000000001"
	for _, c := range []struct {
		name   string
		answer *replay.BundleResimulation
		named  bool
	}{
		{"no answer", nil, true},
		{"wrong in the same way", &replay.BundleResimulation{First: first, Runs: [][]string{run, run}}, true},
		{"wrong in another way between", &replay.BundleResimulation{First: first, Runs: [][]string{other, other}}, false},
		{"altered at the tick", &replay.BundleResimulation{Altered: first, Runs: [][]string{hashes(x.match.Referee(), to)}}, true},
		{"altered before", &replay.BundleResimulation{Altered: first - 1, Runs: [][]string{hashes(x.match.Referee(), to)}}, false},
		{"altered later", &replay.BundleResimulation{Altered: first + 1, Runs: [][]string{hashes(x.match.Referee(), to)}}, false},
		{"another result each time", &replay.BundleResimulation{First: first, Runs: [][]string{run, other}}, false},
	} {
		x.everyTick = c.name == "another result each time"
		b := open(t, x.bundle(t))
		if b.Manifest.Resimulation = c.answer; c.answer != nil {
			c.answer.From, c.answer.To, c.answer.Right = from, to, hashes(x.match.Referee(), first)
		}
		o := withGame(t)
		o.Budget *= 6
		e, err := desync.Explain(b, o)
		if err != nil {
			t.Fatal(err)
		}
		if named := e.Cause != nil && e.Cause.Kind == desync.AlteredPayload; named != c.named || !named && e.Cause != nil {
			t.Errorf("%s: got %v, %q", c.name, e.Cause, e.Notes)
		}
		if x.everyTick && e.First != (desync.Span{From: first, To: first + 1}) { // its state of the first tick is not of the match
			t.Errorf("%s: got %v", c.name, e.First)
		}
	}
}
