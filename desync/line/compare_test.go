package line

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// unit is an element with an ID.
type unit struct{ ID, Stuck uint32 }

// recordedStream returns the stream of what f does.
func recordedStream(t *testing.T, sites []weave.Site, ids []int, f func()) *stream {
	t.Helper()
	var b bytes.Buffer
	probe.Start(&b, nil, nil)
	f()
	if _, err := probe.Stop(); err != nil {
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

// A stale cache is written where its field is, and not where a field of the state is that the same line reads: both sides begin
// with the same state.
func TestStaleWriter(t *testing.T) {
	schema, err := state.ParseType("struct { Herd struct { Sheep []struct { Wool uint16 } } }")
	if err != nil {
		t.Fatal(err)
	}
	sites := []weave.Site{
		{Func: "step", Kind: weave.Enter, Text: "step()"},
		{Func: "step", Kind: weave.Test, Reads: []string{"Wool", "near"}, Text: "s.Wool > 3 && w.near[i] > 0", Line: 3},
	}
	wool := lastWrite{&weave.Site{Name: "Wool", Line: 7}, 67}
	near := lastWrite{&weave.Site{Name: "near", Line: 8}, 50}
	for _, c := range []struct {
		name     string
		before   map[string]lastWrite
		wantLine int
	}{
		{"the state later", map[string]lastWrite{"Wool": wool, "near": near}, 8},
		{"only the state", map[string]lastWrite{"Wool": wool}, 0},
	} {
		play := func(test bool) func() {
			return func() {
				defer probe.Leave(probe.Enter(0, &unit{1, 5}))
				probe.V(1, test)
			}
		}
		x := comparison{
			a: recordedStream(t, sites, []int{0, 1}, play(true)), b: recordedStream(t, sites, []int{0, 1}, play(false)),
			before: c.before, equal: map[string]bool{},
		}
		addNames(x.equal, schema.Root())
		f, err := x.find()
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		if f.Written != nil {
			line = f.Written.Line
		}
		if f.Where[1] == nil || f.Where[1].Line != 3 || line != c.wantLine {
			t.Errorf("%s: got %+v, written at line %d, want line %d", c.name, f.Where[1], line, c.wantLine)
		}
	}
}

// A variable of the function around a literal explains what the literal reads.
func TestVariableOfClosure(t *testing.T) {
	sites := []weave.Site{
		{Func: "step", Kind: weave.Enter, Text: "step()"},
		{Func: "step", Kind: weave.Define, Name: "total", Local: true, Text: "total := 0", Line: 2},
		{Func: "step", Kind: weave.Range, Text: "range list", Line: 3},
		{Func: "step", Kind: weave.Define, Name: "total", Local: true, Text: "total := 0", Line: 4},
		{Func: "step.func1", Kind: weave.Write, Name: "total", Local: true, Reads: []string{"share"}, Text: "total += share", Line: 6},
	}
	play := func(define int, total int) func() {
		return func() {
			defer probe.Leave(probe.Enter(0))
			for i := range 2 {
				if define == 3 || i == 0 {
					probe.D(define, 0)
				}
				probe.S(2)
			}
			probe.W(4, total, nil)
		}
	}
	x := comparison{a: recordedStream(t, sites, []int{0, weave.None, 2, weave.None, 4}, play(1, 8)), b: recordedStream(t, sites, []int{0, weave.None, 2, weave.None, 4}, play(3, 5))}
	f, err := x.find()
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Place(); f.Reason != Only || p == nil || p.Line != 4 {
		t.Errorf("got %+v at %+v, want line 4", f, p)
	}
}

// Two ways with one text are told apart by their lines.
func TestWaysWithOneText(t *testing.T) {
	sites := []weave.Site{
		{Func: "step", Kind: weave.Enter, Text: "step()"},
		{Func: "step", Kind: weave.Case, Text: "select <-done", Line: 5},
		{Func: "step", Kind: weave.Case, Text: "select <-done", Line: 8},
	}
	play := func(site int) func() {
		return func() {
			defer probe.Leave(probe.Enter(0))
			probe.S(site)
		}
	}
	ids := []int{0, 1, 2}
	x := comparison{a: recordedStream(t, sites, ids, play(1)), b: recordedStream(t, sites, ids, play(2))}
	f, err := x.find()
	if err != nil {
		t.Fatal(err)
	}
	if want := "the sides take different paths from here: select <-done (line 5) | select <-done (line 8)"; f.because() != want {
		t.Errorf("got %q, want %q", f.because(), want)
	}
}

// Of several assignments in one tick, the last in the order of the probes counts, each time.
func TestLastWrites(t *testing.T) {
	s := &side{source: &weave.Source{}}
	h := program.History{}
	for i := range 20 {
		s.source.Sites = append(s.source.Sites, weave.Site{Kind: weave.Write, Name: "near", Line: i})
		h[i] = program.Latest{Site: i, Tick: 50}
	}
	h[3] = program.Latest{Site: 3, Tick: 51}
	if w := s.lastWrites(h.List())["near"]; w.site.Line != 3 || w.tick != 51 {
		t.Errorf("got line %d in tick %d, want line 3 in tick 51", w.site.Line, w.tick)
	}
	h[3] = program.Latest{Site: 3, Tick: 50}
	if w := s.lastWrites(h.List())["near"]; w.site.Line != 19 {
		t.Errorf("got line %d, want line 19", w.site.Line)
	}
}

// That a pointer is to a copy counts. Of a list it counts only where a version has another text: an append makes a new list or not,
// as there is room.
func TestSameMarks(t *testing.T) {
	moment := func(text, value string) *moment {
		return &moment{Event: probe.Event{Value: value}, own: &weave.Site{Kind: weave.Define, Text: text}}
	}
	for _, c := range []struct {
		textA, a, textB, b string
		before             map[string]lastWrite
		want               bool
	}{
		{"u", "&Unit 1", "u", "&Unit 1", nil, true},
		{"u", "&Unit 1", "u", "&Unit 1 outside the state", nil, false},
		{"l", "[1 2]", "l", "[1 2] outside the state", nil, true},
		{"l", "[1 2]", "l", "[1 3] outside the state", nil, false},
		{"l := w.L", "[1 2]", "l := clone(w.L)", "[1 2] outside the state", nil, false},
		{"l := w.L[:2]", "[1 2] (room for 2)", "l := w.L[:2]", "[1 2] (room for 4) outside the state", nil, true},
		{"l := w.L[:2]", "[1 2] (room for 2)", "l := w.L[:2]", "[1 3] (room for 2)", nil, false},
		{"l := w.L[:2]", "[1 2] (room for 2)", "l := clone(w.L)", "[1 2]", nil, true},
		{"l := w.L[:2:2]", "[1 2] (room for 2)", "l := w.L[:2]", "[1 2] (room for 4)", nil, false},
		{"l := w.L", "[1 2]", "l := clone(w.L)", "[1 2] outside the state", map[string]lastWrite{}, true},
	} {
		x := comparison{before: c.before}
		if got := x.same(moment(c.textA, c.a), moment(c.textB, c.b)); got != c.want {
			t.Errorf("%s %s, %s %s: got %v", c.textA, c.a, c.textB, c.b, got)
		}
	}
}

// What an argument points to may be the remains of a tick before, for a warm and a cold side. A value does count, and so does all for two versions.
func TestSameArguments(t *testing.T) {
	moment := func(value string) *moment {
		return &moment{Event: probe.Event{Value: value}, own: &weave.Site{Kind: weave.Enter, Text: "take(v, n)"}}
	}
	const old, fresh = "&{prey:7 from:{X:1 Y:2}}, 5", "&{prey:0 from:{X:0 Y:0}}, 5"
	for _, c := range []struct {
		a, b   string
		before map[string]lastWrite
		want   bool
	}{
		{old, fresh, map[string]lastWrite{}, true},
		{old, "&{prey:0 from:{X:0 Y:0}}, 6", map[string]lastWrite{}, false},
		{"{X:1}, 5", "{X:2}, 5", map[string]lastWrite{}, false},
		{old, fresh, nil, false},
	} {
		x := comparison{before: c.before}
		if got := x.same(moment(c.a), moment(c.b)); got != c.want {
			t.Errorf("%s and %s: got %v", c.a, c.b, got)
		}
	}
}

// A side that still computes has fewer sums, which says nothing.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b watched
		want bool
	}{
		{watched{sums: []uint64{1, 2}}, watched{sums: []uint64{1, 2, 3}}, false},
		{watched{sums: []uint64{1, 2}, ended: true}, watched{sums: []uint64{1, 2, 3}}, true},
		{watched{sums: []uint64{1, 2, 3}}, watched{sums: []uint64{1, 2}, ended: true}, true},
		{watched{sums: []uint64{1, 2, 3}}, watched{sums: []uint64{1, 4}}, true},
		{watched{sums: []uint64{1}, ended: true}, watched{sums: []uint64{1}, ended: true}, false},
	} {
		if got := differ(&c.a, &c.b); got != c.want {
			t.Errorf("%v and %v: got %v", c.a.sums, c.b.sums, got)
		}
	}
}

type dungeon struct {
	Loot, Weather fixed.Rand
	Gold          uint32
}

type noConfig struct{}

// dungeonRules draw some more loot than usual in phase combat.
func dungeonRules(more int, marked bool) lockstep.Rules[dungeon, noConfig] {
	return lockstep.Rules[dungeon, noConfig]{
		Name: "dungeon", Build: "1",
		New: func(w *dungeon, s *lockstep.Settings, _ *noConfig) error {
			w.Loot, w.Weather = fixed.NewStream(s.Seed, "loot"), fixed.NewStream(s.Seed, "weather")
			return nil
		},
		Step: func(w *dungeon, _ *noConfig, t *lockstep.Turn) {
			mark := func(name string) {
				if marked {
					t.Phase(name)
				}
			}
			mark("weather")
			w.Gold += w.Weather.N(10)
			t.Drew("scatter", 1)
			mark("combat")
			for range 3 + more {
				w.Gold += w.Loot.N(10)
			}
			for range more {
				t.Drew("scatter", 1)
			}
			mark("end")
			for range w.Gold % 2 {
				w.Weather.N(10) // a consequence
			}
		},
	}
}

// drawn compares the second tick of two versions of the rules, from the state of the first one.
func drawn(t *testing.T, more [2]int, marked bool) *Result {
	t.Helper()
	s := &search{head: &lockstep.Header{}, result: &Result{}}
	var done [2]*job
	var runs [2]*program.Run
	var before []byte
	for i, n := range more {
		g := lockstep.MustGame(dungeonRules(n, marked))
		h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &noConfig{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		if before == nil {
			before = sim.AppendState(nil)
		}
		if err := sim.Restore(1, before); err != nil {
			t.Fatal(err)
		}
		done[i] = &job{Job: program.Job{Folder: t.TempDir()}}
		r, err := program.Record(done[i].Folder, i, sim, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := r.End(sim.Step(&lockstep.Frame{Tick: 2}))
		if err != nil {
			t.Fatal(err)
		}
		s.head, runs[i] = h, &run
	}
	in := partOf(runs)
	if s.result.Phase = in.phase; runs[0].Hash == runs[1].Hash {
		t.Log("the states are equal")
	}
	if err := s.streams(in, done, runs); err != nil {
		t.Fatal(err)
	}
	return s.result
}

// The streams from which the sides drew differently are named, in the phase in which they began to differ, and not what follows.
func TestStreams(t *testing.T) {
	texts := func(r *Result) (all []string) {
		for _, s := range r.Streams {
			all = append(all, s.String())
		}
		return all
	}
	r := drawn(t, [2]int{0, 1}, true)
	if got, want := texts(r), []string{"scatter: 0 draws | 1 draw", "Loot: 3 draws | 4 draws"}; r.Phase != "combat" || !slices.Equal(got, want) {
		t.Errorf("got phase %q and %q, want combat and %q", r.Phase, got, want)
	}
	var text strings.Builder
	r.Tick = 2
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "phase      combat\nstream     scatter: 0 draws | 1 draw\n           Loot: 3 draws | 4 draws\n") {
		t.Errorf("got %v and\n%s", err, text.String())
	}
	r = drawn(t, [2]int{0, 1}, false)
	if got := texts(r); r.Phase != "" || !slices.Contains(got, "Loot: 3 draws | 4 draws") || !slices.Contains(got, "scatter: 1 draw | 2 draws") {
		t.Errorf("without phases: got %q", got)
	}
	if r := drawn(t, [2]int{1, 1}, true); len(r.Streams) > 0 {
		t.Errorf("equal sides: got %v", r.Streams)
	}
}

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
