package line

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/planted/workshop"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/replay"
)

// A mistake is in one job of the workshop. All are in one build: each is looked for in the tick of its job, from the same state.
type mistake struct {
	job      string // function, whose name stands for the tick
	old, new string // source, which is in its file once
	also     string // is in a further line that names the mistake
	endless  bool   // the job does not end
	stop     string // and what the side does instead; "" if it runs
}

var mistakes = []mistake{
	{job: "sharpen", old: "\t\tp := &w.Parts[i]\n\t\tp.Wear += p.Size", new: "\t\tx := w.Parts[i]\n\t\tp := &x\n\t\tp.Wear += p.Size"},
	{job: "polish", old: "for i := range w.Parts {\n\t\tw.Parts[i].Wear++", new: "for _, p := range w.Parts {\n\t\tp.Wear++"},
	{job: "turn", old: "tail := w.Queue[1:]", new: "tail := slices.Clone(w.Queue[1:])"},
	{job: "rotate", old: "tail := slices.Clone(w.Queue[2:])", new: "tail := w.Queue[2:]"},
	{job: "shift", old: "copy(w.Queue[1:], w.Queue)", new: "copy(w.Queue[2:], w.Queue)"},
	{job: "empty", old: "clear(w.Queue[:2])", new: "clear(w.Queue[:3])"},
	{job: "forget", old: "delete(sizes, gone)", new: "delete(sizes, gone+1)"},
	{job: "sift", old: "list := slices.Clone(w.Queue)", new: "list := w.Queue"},
	{job: "extend", old: "append(w.Queue[:2:2], 40)", new: "append(w.Queue[:2], 40)"},
	{job: "arrange", old: "slices.SortFunc(w.Parts, ", new: "slices.SortFunc(w.Parts[1:], "},
	{job: "tools.Each", old: "\t\tx := &list[i]\n\t\tf(x)", new: "\t\tx := list[i]\n\t\tf(&x)"},
	{job: "remember", old: "\t\tlast.Grind(p.Size)\n\t\tlast = p\n", new: "\t\tlast.Grind(p.Size)\n\t\t*last = *p\n"},
	{job: "raise", old: "\tb := &w.Bench\n", new: "\tb := w.Bench\n"},
	{job: "pack", old: "PutUint32(w.Packed[at:], size)", new: "PutUint32(w.Packed[at+1:], size)"},
	{job: "label", old: "b.WriteString(\".\")\n", new: ""},
	{job: "roll", old: "r := &w.Dice\n", new: "r := w.Dice\n"},
	{job: "count", old: "sum := &w.Sum\n", new: "n := w.Sum\n\tsum := &n\n"},
	{job: "oil", old: "heap.Fix(&r, 0)", new: "heap.Fix(&r, 8)"},
	{job: "hand", old: "w.Queue = slices.Insert(w.Queue, at, what)", new: "slices.Insert(w.Queue[:3], at, what)"},
	{job: "lend", old: "path := w.Parts[2].Path\n", new: "path := slices.Clone(w.Parts[2].Path)\n"},
	{job: "note", old: "*p = next", new: "p = &next"},
	{job: "drain", old: "n -= w.Queue[0]", new: "n -= w.Queue[0] - 1", endless: true},
	{job: "wait", old: "p.Wear >= 20", new: "p.Wear < 0", endless: true},
	{job: "stall", old: "slices.Index(w.Queue, 4)", new: "slices.Index(w.Queue, 40)", endless: true},
	{job: "fill", old: "len(w.Shelf) < 20", new: "len(w.Shelf) > 0", endless: true, stop: "B needs more than 384 MB in tick 25: it loops at internal/testing/planted/workshop/jobs.go:"},
	{job: "rise", old: "rise(w, steps-1)", new: "rise(w, steps)", endless: true, stop: "B overflows its stack in tick 26: it loops at internal/testing/planted/workshop/jobs.go:"},
	{job: "shut", old: "len(w.Parts) == 0", new: "len(w.Parts) > 0", endless: true, stop: "B exits in tick 27 (exit code 4): the last line with a probe is internal/testing/planted/workshop/jobs.go:"},
}

// order are the jobs by tick; a name of another package is that of the function in which the mistake is.
var order = []string{
	"sharpen", "polish", "turn", "rotate", "shift", "empty", "forget", "sift", "extend", "arrange", "tools.Each", "remember", "raise", "pack",
	"label", "roll", "count", "oil", "hand", "lend", "note", "drain", "wait", "stall", "fill", "rise", "shut",
}

func (m *mistake) tick() lockstep.Tick { return lockstep.Tick(slices.Index(order, m.job) + 1) }

// workshopEdits returns the files with all mistakes.
func workshopEdits(t *testing.T) map[string][]byte {
	t.Helper()
	edits := map[string][]byte{}
	for _, m := range mistakes {
		name := "jobs.go"
		if strings.HasPrefix(m.job, "tools.") {
			name = "tools/tools.go"
		}
		path, err := filepath.Abs(filepath.Join("..", "..", "internal", "testing", "planted", "workshop", name))
		if err != nil {
			t.Fatal(err)
		}
		src := edits[path]
		if src == nil {
			if src, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(src, []byte(m.old)); n != 1 {
			t.Fatalf("%s: %d times in %s, want once", m.job, n, name)
		}
		edits[path] = bytes.Replace(src, []byte(m.old), []byte(m.new), 1)
	}
	return edits
}

// recordWorkshop plays a match with a keyframe of each tick.
func recordWorkshop(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "workshop.ssr")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := replay.NewWriter(out, replay.WriterOptions{})
	settings := lockstep.DefaultSettings(1)
	settings.KeyframeEvery = 1
	m, err := local.New(lockstep.MustGame(workshop.Rules()), &workshop.Setup{Parts: 9}, local.Options{Settings: settings, Log: w, Bots: make([]lockstep.Bot, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for now := lockstep.Time(0); m.Host().Now() < lockstep.Tick(len(order))+2; now += lockstep.Time(50 * time.Millisecond) {
		if err := m.Advance(now); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// names reports whether a result names the mistake, or a line of its function.
func (m *mistake) names(r *Result) (line, near bool) {
	f := r.Finding
	if f == nil || f.Place() == nil {
		return false, false
	}
	olds, news := strings.Split(m.old, "\n"), strings.Split(m.new, "\n")
	for side, p := range f.Where {
		if p == nil {
			continue
		}
		own, other := olds, news
		if side == 1 {
			own, other = news, olds
		}
		near = near || strings.HasSuffix(p.Func, "."+m.job) || strings.Contains(p.Func+".", "."+m.job+".") || strings.Contains(p.Func, m.job)
		for _, l := range own {
			if l = strings.TrimSpace(l); l != "" && strings.Contains(p.Source, l) && !slices.ContainsFunc(other, func(o string) bool { return strings.TrimSpace(o) == l }) {
				line = true
			}
		}
		line = line || m.also != "" && strings.Contains(p.Source, m.also)
	}
	return line, near || line
}

// TestWorkshop looks for mistakes with pointers, in calls of code without probes, and in loops that do not end.
func TestWorkshop(t *testing.T) {
	needsGo(t)
	f, err := replay.Open(recordWorkshop(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := NewFinder()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	t.Run("equal", func(t *testing.T) { equalTick(t, x, f) })
	t.Run("alone", func(t *testing.T) { endlessAlone(t, x, f) })
	planted, lines, nears := 0, 0, 0
	for _, m := range mistakes {
		if m.endless {
			if every == 0 && m.job != "stall" && m.stop == "" {
				continue // SAMESTEP_LINES is not set: an endless loop keeps a processor busy
			}
			soonEndless(t)
		}
		if m.stop != "" {
			tickTime = 20 * time.Second // it stops by itself
		}
		planted++
		o := Options{Source: filepath.Join("..", ".."), Edits: workshopEdits(t), From: m.tick() - 1, Last: m.tick()}
		r, err := x.Find(context.Background(), f, o)
		if err != nil {
			t.Errorf("%s: %v", m.job, err)
			continue
		}
		line, near := m.names(r)
		var text bytes.Buffer
		r.WriteText(&text)
		switch {
		case line:
			lines++
		case near:
			t.Logf("near: %s\n%s", m.job, &text)
		default:
			t.Logf("missed: %s\n%s", m.job, &text)
		}
		if near {
			nears++
		}
		if testing.Verbose() && line {
			t.Logf("%s\n%s", m.job, &text)
		}
		if e := r.Endless; (e[1] != nil) != m.endless || e[0] != nil {
			t.Errorf("%s: got %+v that did not end, want %v", m.job, e, m.endless)
		}
		if !strings.HasPrefix(r.Verdict(), m.stop) {
			t.Errorf("%s: got %q, want %q", m.job, r.Verdict(), m.stop)
		}
		if r.Tick != m.tick() {
			t.Errorf("%s: got tick %d, want %d", m.job, r.Tick, m.tick())
		}
	}
	t.Logf("%d mistakes, %d on the line, %d near", planted, lines, nears)
	if planted < 20 || lines*100 < planted*85 || nears < planted {
		t.Errorf("got %d of %d on the line and %d near, want 85 %% and all", lines, planted, nears)
	}
}

// soonEndless makes a tick count as endless that takes longer than those of a loaded machine.
func soonEndless(t *testing.T) {
	wasTime, wasCut, wasMemory := tickTime, endlessCut, sideMemory
	tickTime, endlessCut, sideMemory = 1500*time.Millisecond, 1<<15, 384<<20
	t.Cleanup(func() { tickTime, endlessCut, sideMemory = wasTime, wasCut, wasMemory })
}

// A tick that the caller names has no finding if it is equal, and one if a side does not end it.
func equalTick(t *testing.T, x *Finder, f *replay.File) {
	o := Options{Source: filepath.Join("..", ".."), Edits: workshopEdits(t), Tick: lockstep.Tick(len(order)) + 1}
	r, err := x.Find(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "both versions compute the same from tick 27 to 28"; r.Tick != 0 || r.Finding != nil || r.Verdict() != want {
		t.Errorf("got tick %d and %q, want %q", r.Tick, r.Verdict(), want)
	}
	if every == 0 {
		return
	}
	soonEndless(t)
	o.Tick = 24
	if r, err = x.Find(context.Background(), f, o); err != nil {
		t.Fatal(err)
	}
	if r.Tick != o.Tick || r.Endless[1] == nil || r.Finding == nil {
		t.Errorf("got %+v, want that B does not end it", r)
	}
}

// One version that does not end a tick, or panics in one, is compared with itself. The match that the file has ended it.
func endlessAlone(t *testing.T, x *Finder, f *replay.File) {
	soonEndless(t)
	edits := workshopEdits(t)
	path, err := filepath.Abs(filepath.Join("..", "..", "internal", "testing", "planted", "workshop", "workshop.go"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const soon = "\tw.Tick = uint32(t.Tick)\n\tif w.Tick == 2 {\n\t\tpanic(\"soon\")\n\t}\n"
	src = bytes.Replace(src, []byte("\t\tStep: step,\n"), []byte("\t\tStep: step, Derive: func(w *Shop, _ *Setup) { if w.Tick == 28 { panic(\"state\") } },\n"), 1)
	edits[path] = bytes.Replace(src, []byte("\tw.Tick = uint32(t.Tick)\n"), []byte(soon), 1)
	alone := func(tick, last, named lockstep.Tick, want string) *Result {
		s, err := x.search(f, Options{Edits: edits, Last: last, Tick: named})
		if err != nil {
			t.Fatal(err)
		}
		s.dir = "." // other sources than side A of the others
		if err := s.alone(context.Background()); err != nil {
			t.Fatal(err)
		}
		r := s.result
		ends := tick != 22 && tick != 27
		if r.Tick != tick || (r.Endless[0] == nil) != ends || (r.Endless[1] == nil) != ends || r.Panicked() != ends || r.Differs() || r.Finding != nil || !strings.HasPrefix(r.Verdict(), want) || strings.Contains(strings.Join(r.Lines(), " "), "diverged") {
			t.Errorf("got tick %d of mode %s, %+v, %q, want %q", r.Tick, r.Mode, r.Endless, r.Verdict(), want)
		}
		return r
	}
	alone(2, 27, 0, "the rules panic in tick 2, on both sides in the same way")
	if r := alone(29, 29, 29, "the rules panic in tick 29, on both sides in the same way"); !strings.Contains(r.Panics[0], "tick 28: the game panicked in Derive: state") {
		t.Errorf("got %q", r.Panics[0])
	}
	alone(27, 27, 27, "A exits in tick 27 (exit code 4): the last line with a probe is internal/testing/planted/workshop/jobs.go:")
	if every == 0 {
		return // as in TestWorkshop
	}
	r := alone(22, 22, 22, "A does not end tick 22 within 1.5 s: it loops at internal/testing/planted/workshop/jobs.go:")
	if r.Endless[0] == nil {
		return
	}
	if loop := r.Endless[0].Loop; loop == nil || !strings.HasPrefix(loop.Source, "for n := int32(len(w.Queue))") {
		t.Errorf("got the loop %+v", loop)
	}
}
