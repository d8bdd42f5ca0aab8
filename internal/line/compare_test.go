package line

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/internal/weave"
)

// unit is an element with an ID.
type unit struct{ ID, Stuck uint32 }

// recordedStream returns the stream of what f does.
func recordedStream(t *testing.T, sites []weave.Site, ids []int, f func()) *stream {
	t.Helper()
	var b bytes.Buffer
	probe.Start(&b, nil)
	f()
	if _, _, err := probe.Stop(); err != nil {
		t.Fatal(err)
	}
	return newStream(&b, sites, func(i int) int { return ids[i] })
}

// An assignment that only one side has explains a difference in what is read; one that was only moved does not.
func TestMovedAssignment(t *testing.T) {
	sites := []weave.Site{
		{Func: "step", Kind: weave.Enter, Text: "step()"},
		{Func: "step", Kind: weave.Write, Name: "Stuck", Text: "u.Stuck = 0", Line: 2},
		{Func: "step", Kind: weave.Test, Reads: []string{"Stuck"}, Text: "u.Stuck > 3", Line: 3},
	}
	ids := []int{0, weave.None, 2}
	play := func(assign, test bool) func() {
		return func() {
			u := &unit{1, 5}
			defer probe.Leave(probe.Enter(0, u))
			if assign {
				probe.B(u.Stuck)
				u.Stuck = 0
				probe.R(1, u.Stuck, u)
			}
			probe.V(2, test)
		}
	}
	for _, c := range []struct {
		name        string
		inB, testB  bool
		wantReason  Reason
		wantTheLine int
	}{
		{"moved", true, true, Value, 3},
		{"forgotten", false, true, Only, 2},
		{"equal", true, false, Nothing, 0},
	} {
		x := comparison{
			a: recordedStream(t, sites, ids, play(true, false)),
			b: recordedStream(t, sites, ids, play(c.inB, c.testB)),
		}
		f, err := x.find()
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		if p := f.Place(); p != nil {
			line = p.Line
		}
		if f.Reason != c.wantReason || line != c.wantTheLine {
			t.Errorf("%s: got %s at line %d, want %s at line %d", c.name, f.Reason, line, c.wantReason, c.wantTheLine)
		}
	}
}
