package simulate

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

var rewriteCorpus = flag.Bool("rewrite-corpus", false, "write the files of the corpus again, without their violations")

// Each file of the corpus is a run that failed once. The file's name says why. It must
// pass now. The small form makes each run once, not twice, and leaves out those of more than four minutes.
func TestCorpus(t *testing.T) {
	names, err := filepath.Glob("testdata/corpus/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			a, err := ReadArtifact(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			s, err := a.Drones()
			if err != nil {
				t.Fatal(err)
			}
			play := Twice
			if testenv.Small(t) {
				if play = Run; a.Plan.Chaos+a.Plan.Heal > 240*sec {
					testenv.Long(t)
				}
			}
			out, err := play(s, a.Plan)
			if err != nil {
				t.Fatal(err)
			}
			if out.Violation != nil {
				t.Error(out.Violation)
			}
			if len(a.Plan.Faults) > 0 && len(out.Injected) == 0 {
				t.Error("none of its faults was injected")
			}
			if *rewriteCorpus {
				a.Violation, a.Last = nil, nil
				var text bytes.Buffer
				if err := a.Write(&text); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// An artifact is read as it was written and gives the same run. Invalid plans are
// errors.
func TestArtifact(t *testing.T) {
	o := Options{Subject: Drones(8), Clients: 2, Length: 35 * sec}
	o.fill()
	out, err := Run(o.Subject, Expand(o, 5))
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewArtifact(o.Subject, out)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Write(&text); err != nil {
		t.Fatal(err)
	}
	good := text.String()
	b, err := ReadArtifact(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Drones()
	if err != nil || b.Fits(s) != nil {
		t.Fatal(err, b.Fits(s))
	}
	again, err := Run(s, b.Plan)
	if err != nil || again.Trace != out.Trace {
		t.Errorf("got trace %x, want %x: %v", again.Trace, out.Trace, err)
	}
	for _, row := range [][2]string{
		{`"samestep simulation 1"`, `"samestep simulation 0"`},
		{`"seed"`, `"sead"`},
		{`"players": 4`, `"players": 1`},
		{`"chaos": 5000000`, `"chaos": -1`},
		{`"who": `, `"who": 99`},
		{`"kind": "`, `"kind": "x`},
		{`"delay": `, `"delay": -`},
		{`"backlog": `, `"backlog": -`},
		{`"flush_ticks": `, `"flush_ticks": 0, "sync_every": -`},
	} {
		bad := strings.Replace(good, row[0], row[1], 1)
		if bad == good {
			t.Errorf("%s is not in the artifact", row[0])
			continue
		}
		if _, err := ReadArtifact(strings.NewReader(bad)); !errors.Is(err, errArtifact) {
			t.Errorf("%s: got %v", row[1], err)
		}
	}
	if _, err := ReadArtifact(strings.NewReader(good + "{}")); !errors.Is(err, errArtifact) {
		t.Errorf("more after its end: got %v", err)
	}
	if err := b.Fits(Drones(9)); !errors.Is(err, errArtifact) || !strings.Contains(err.Error(), "of another configuration: got 08 00, want 09 00") {
		t.Errorf("another configuration: got %v", err)
	}
	b.Build = "other"
	if _, err := b.Drones(); !errors.Is(err, errArtifact) || b.Fits(s) == nil {
		t.Errorf("another build: got %v", err)
	}
}

// A failed run shrinks to the one fault that makes it fail. A search that a limit ends says so.
func TestShrink(t *testing.T) {
	s := Drones(8)
	p := Expand(Options{Subject: s, Clients: 4, Length: 60 * sec}, 9)
	p.Faults = append(p.Faults, Fault{Kind: "flip", At: p.Chaos - 1, Who: 1})
	fails := func(p *Plan) bool {
		cut, machine := false, false
		for _, f := range p.Faults {
			cut = cut || f.Kind == "flip"
		}
		machine = !p.Machines[1].Absent
		return cut && machine
	}
	first := &Outcome{Plan: p, Violation: &Violation{Invariant: "I1", At: p.Chaos}}
	again := func(p *Plan) (*Outcome, error) {
		out := &Outcome{Plan: p}
		if fails(p) {
			out.Violation = first.Violation
		}
		return out, nil
	}
	told := 0
	small, err := shrink(first, ShrinkOptions{Runs: 500, Progress: func(n int) { told = n }}, again)
	if err != nil {
		t.Fatal(err)
	}
	if !small.Whole || small.Runs == 0 || small.Runs != told {
		t.Errorf("got whole %t after %d runs, of which it told %d", small.Whole, small.Runs, told)
	}
	stop := make(chan struct{})
	stopped, err := shrink(first, ShrinkOptions{Runs: 500, Stop: stop, Progress: func(n int) {
		if n == 3 {
			close(stop)
		}
	}}, again)
	if err != nil || stopped.Whole || stopped.Runs != 3 {
		t.Errorf("stopped after 3 runs: got whole %t after %d, %v", stopped.Whole, stopped.Runs, err)
	}
	if few, err := shrink(first, ShrinkOptions{Runs: 4}, again); err != nil || few.Whole || few.Runs != 4 {
		t.Errorf("4 runs: got whole %t after %d, %v", few.Whole, few.Runs, err)
	}
	present := 0
	for i := range small.Plan.Machines {
		if !small.Plan.Machines[i].Absent {
			present++
		}
	}
	if len(small.Plan.Faults) != 1 || present != 1 || small.Plan.Machines[1].Every != 0 || !fails(small.Plan) {
		t.Errorf("%d faults and %d machines are left", len(small.Plan.Faults), present)
	}
	if same, err := Shrink(s, first, ShrinkOptions{}); err != nil || same.Outcome != first || same.Whole {
		t.Errorf("without runs: got %v, %v", same, err)
	}
}
