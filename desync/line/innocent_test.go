package line

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// What also differs in a tick that came out equal, such as a cache that is built when somebody asks for it, is passed over, and
// the assignment is named that the deciding expression reads.
func TestInnocent(t *testing.T) {
	sites := []weave.Site{
		{Func: "step", Kind: weave.Enter, Text: "step()"},
		{Func: "step", Kind: weave.Test, Reads: []string{"grid"}, Text: "w.grid == nil", Line: 2},
		{Func: "step", Kind: weave.Write, Name: "calls", Text: "w.calls++", Line: 3},
		{Func: "step", Kind: weave.Test, Reads: []string{"calls"}, Text: "w.calls == 50", Line: 4},
	}
	ids := []int{0, 1, 2, 3}
	play := func(built bool, calls uint32) func() {
		return func() {
			u := &unit{1, calls - 1}
			defer probe.Leave(probe.Enter(0, u))
			probe.V(1, !built)
			probe.B(u.Stuck)
			u.Stuck = calls
			probe.R(2, u.Stuck, u)
			probe.V(3, calls == 50)
		}
	}
	dir := t.TempDir()
	var equal []program.Run
	for i, f := range []func(){play(true, 49), play(false, 1)} {
		var b bytes.Buffer
		probe.Start(&b, nil, nil)
		f()
		if _, err := probe.Stop(); err != nil {
			t.Fatal(err)
		}
		equal = append(equal, program.Run{Trace: []string{"a", "b"}[i]})
		if err := os.WriteFile(filepath.Join(dir, equal[i].Trace), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := new(job)
	done.Folder = dir
	s := &side{source: &weave.Source{Sites: sites}}
	for _, c := range []struct {
		name  string
		equal []program.Run
		reads []string
		line  int
	}{
		{"no tick before", nil, []string{"calls"}, 2},
		{"the tick before", equal, []string{"calls"}, 3},
		{"reads something else", equal, nil, 4},
	} {
		sites[3].Reads = c.reads
		innocent, err := s.innocent(done, c.equal)
		if err != nil {
			t.Fatal(err)
		}
		x := comparison{a: recordedStream(t, sites, ids, play(true, 50)), b: recordedStream(t, sites, ids, play(false, 1))}
		x.a.innocent, x.b.innocent = innocent, innocent
		f, err := x.find()
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Place(); p == nil || p.Line != c.line {
			t.Errorf("%s: got %+v, want line %d", c.name, f, c.line)
		}
	}
}
