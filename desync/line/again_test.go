package line

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A selfish bug makes one version differ from itself. lines has texts of the lines that name it: where the value is read, or
// where it was written.
type selfish struct {
	name     string
	mode     Mode
	file     string
	old, new string
	lines    []string
}

var selfishBugs = []selfish{
	{"units act in the order of a map", Again, "step.go", "\tfor i := range w.Units {\n\t\tw.act(i)\n",
		"\tall := map[int]bool{}\n\tfor i := range w.Units {\n\t\tall[i] = true\n\t}\n\tfor i := range all {\n\t\tw.act(i)\n", []string{"range all", "w.act(i)"}},
	{"the last of a map wins", Again, "step.go", "\tw.regrow()\n",
		"\trich := map[uint32]uint32{}\n\tfor i := range w.Units {\n\t\trich[uint32(i)] = uint32(w.Units[i].ID)\n\t}\n\tlast := uint32(0)\n\tfor _, id := range rich {\n\t\tlast = id\n\t}\n\tw.Match.Seed += uint64(last)\n\tw.regrow()\n", []string{"range rich"}},
	{"the first of a map", Again, "step.go", "\tw.regrow()\n",
		"\tset := map[UnitID]int{}\n\tfor i := range w.Units {\n\t\tset[w.Units[i].ID] = i\n\t}\n\tfor id := range set {\n\t\tw.Match.Seed += uint64(id)\n\t\tbreak\n\t}\n\tw.regrow()\n", []string{"range set"}},
	{"goroutines write one variable", Again, "step.go", "\tw.regrow()\n",
		"\tvar total uint32\n\tdone := make(chan bool)\n\tfor i := range w.Units {\n\t\tgo func() {\n\t\t\ttotal = uint32(w.Units[i].ID)\n\t\t\tdone <- true\n\t\t}()\n\t}\n\tfor range w.Units {\n\t\t<-done\n\t}\n\tw.Match.Seed += uint64(total)\n\tw.regrow()\n", []string{"total = uint32", "uint64(total)"}},
	{"results in the order in which they come", Again, "step.go", "\tw.regrow()\n",
		"\tcome := make(chan UnitID)\n\tfor i := range w.Units {\n\t\tgo func() { come <- w.Units[i].ID }()\n\t}\n\tfor n := range w.Units {\n\t\tid := <-come\n\t\tw.Match.Seed += uint64(id) * uint64(n)\n\t}\n\tw.regrow()\n", []string{"<-come"}},
	{"goroutines add without a lock", Again, "step.go", "\tw.regrow()\n",
		"\tvar list []UnitID\n\tdone := make(chan bool, len(w.Units))\n\tfor i := range w.Units {\n\t\tgo func() {\n\t\t\tlist = append(list, w.Units[i].ID)\n\t\t\tdone <- true\n\t\t}()\n\t}\n\tfor range w.Units {\n\t\t<-done\n\t}\n\tw.Match.Seed += uint64(list[0])*7 + uint64(len(list))\n\tw.regrow()\n", []string{"list = append", "list[0]"}},
	{"a survey reads the one before it", Again, "survey.go", "\tv.press(w, i, own)\n",
		"\tv.press(w, i, own)\n\tif i > 0 {\n\t\tv.shove.X += w.workspace.surveys[i-1].shove.X / 2\n\t}\n", []string{"surveys[i-1]"}},
	{"positions are sensed in every second tick", WarmCold, "world.go", "\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n",
		"\t\tif w.Match.Tick%2 == 0 || s.seen[i].kind == NoUnit {\n\t\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n\t\t}\n", []string{"s.seen[i]", "seen[i].at", ".seen["}},
	{"damage is not cleared", WarmCold, "world.go", "\tclear(s.damage)\n", "", []string{"w.workspace.damage"}},
	{"a list is kept while it is long enough", WarmCold, "world.go", "\ts := &w.workspace\n\ts.ids, s.bases, s.buildings = s.ids[:0], s.bases[:0], s.buildings[:0]\n",
		"\ts := &w.workspace\n\tif len(s.ids) > 0 && len(s.ids) >= len(w.Units) {\n\t\treturn\n\t}\n\ts.ids, s.bases, s.buildings = s.ids[:0], s.bases[:0], s.buildings[:0]\n", []string{"len(s.ids)", "s.ids", "w.find("}},
}

// TestSelfish plants bugs that make one version differ from itself, and looks for a line that names them.
func TestSelfish(t *testing.T) {
	if every == 0 {
		t.Skip("SAMESTEP_LINES is not set: builds and runs ten versions of a game")
	}
	path := playedGame("skirmish").record(t, t.TempDir())
	named := 0
	list := chosen(t, selfishBugs, every, func(b selfish) string { return b.name })
	for _, b := range list {
		r := b.find(t, path)
		var text bytes.Buffer
		r.WriteText(&text)
		if f := r.Finding; r.Mode == b.mode && f != nil && (b.names(f.Where[0]) || b.names(f.Where[1]) || b.names(f.Written)) {
			named++
			if testing.Verbose() {
				t.Logf("%s:\n%s", b.name, &text)
			}
			continue
		}
		t.Logf("missed: %s (mode %s)\n%s", b.name, r.Mode, &text)
	}
	t.Logf("%d of %d named", named, len(list))
	if named*100 < len(list)*90 {
		t.Errorf("got %d of %d, want 90 %%", named, len(list))
	}
}

func (b *selfish) names(p *Place) bool {
	return p != nil && slices.ContainsFunc(b.lines, func(l string) bool { return strings.Contains(p.Source, l) })
}

func (b *selfish) find(t *testing.T, path string) *Result {
	edits, _, _ := bug{name: b.name, file: b.file, old: b.old, new: b.new}.plant(t, "skirmish")
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := searchIn(t, f)
	s.dir, s.Edits, s.Last = filepath.Join("..", ".."), edits, 400
	if err := s.alone(context.Background()); err != nil {
		t.Fatal(b.name, err)
	}
	return s.result
}

// A table that New makes and Derive does not is in the simulation that comes from the start, and in no restored one; and one in a package
// variable is in each simulation of a process that has called New. The line is found with the tick that a report names, and without it.
func TestTableOfNew(t *testing.T) {
	needsGo(t)
	testenv.Long(t)
	dir := foreign(t, "caravan", "")
	log := filepath.Join(t.TempDir(), "caravan.ssr")
	goCommand(t, dir, "run", "./record", log)
	f, err := replay.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const line = "w.Towns[n].Mood += int32(w.Tick % 2)"
	for _, table := range []string{"w.Taxed", "taxed"} {
		x, err := NewFinder() // which builds a side once
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		where := edit{"rules/rules.go", "\tWorth    int64    `state:\"derived\"`", "\tWorth    int64    `state:\"derived\"`\n\tTaxed []int `state:\"derived\"`"}
		if table == "taxed" {
			where = edit{"rules/step.go", "// rest ", "var taxed []int\n\n// rest "}
		}
		edits := editing(t, dir, nil, []edit{
			where,
			{"rules/rules.go", "\tderive(w, c)\n\treturn nil", "\t" + table + " = []int{0}\n\tderive(w, c)\n\treturn nil"},
			{"rules/step.go", "\tw.rest()\n", "\tfor _, n := range " + table + " {\n\t\t" + line + "\n\t}\n\tw.rest()\n"},
		})
		ticks, last := []lockstep.Tick{0, 7}, lockstep.Tick(20)
		if table == "taxed" {
			ticks, last = []lockstep.Tick{0, 1}, 1 // after which the caravans differ by themselves, between warm and cold
		}
		for _, tick := range ticks {
			s, err := x.search(f, Options{Source: dir, Edits: edits, Tick: tick, Last: last, Runs: 2})
			if err != nil {
				t.Fatal(err)
			}
			s.dir = dir
			if err := s.alone(context.Background()); err != nil {
				t.Fatal(err)
			}
			r := s.result
			if f := r.Finding; r.Mode != WarmCold || r.Tick != max(tick, 1) || f == nil || f.Where[0] == nil || f.Where[0].Source != line && !strings.Contains(f.Where[0].Source, table) {
				var text bytes.Buffer
				r.WriteText(&text)
				t.Errorf("%s, tick %d: got %+v\n%s", table, tick, r.Finding, &text)
			}
		}
	}
}

// Of a tick that the sides begin with different states nothing is said.
func TestNotTheTick(t *testing.T) {
	s := &search{result: &Result{Mode: WarmCold}, named: true}
	s.Tick = 5
	var done [2]*job
	run := &program.Run{Before: "before"}
	for i := range done {
		done[i] = &job{Job: program.Job{Folder: t.TempDir()}}
		write(t, filepath.Join(done[i].Folder, run.Before), "state"[i:])
	}
	err := s.compare([2]*side{}, done, [2]*program.Run{run, run}, nil)
	if at := (*beforeError)(nil); !errors.As(err, &at) || at.tick != 5 {
		t.Errorf("got %v", err)
	}
}

// The first tick that differs is the answer, and a note says so.
func TestFirstTickInstead(t *testing.T) {
	needsGo(t)
	testenv.Long(t)
	dir := foreign(t, "caravan", "")
	goCommand(t, dir, "run", "./record", filepath.Join(dir, "caravan.ssr"))
	for _, e := range editing(t, dir, nil, []edit{{"rules/step.go", "\tw.rest()\n", "\tif w.Tick == 3 {\n\t\tw.Towns[0].Mood += int32(rand.Int32())\n\t}\n\tw.rest()\n"}, {"rules/step.go", "import (", "import (\n\t\"math/rand/v2\""}}) {
		write(t, filepath.Join(dir, "rules", "step.go"), string(e))
	}
	f, err := replay.Open(filepath.Join(dir, "caravan.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Find(t.Context(), f, Options{Source: dir, Tick: 7, Last: 20, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	const note = "the sides do not begin tick 7 with the same state: this is the first tick that differs"
	if r.Tick != 3 || r.Mode != Again || !slices.Contains(r.Notes, note) || r.Finding == nil || !strings.Contains(r.Finding.Place().Source, "rand.Int32()") {
		t.Errorf("got %+v, want %q", r, note)
	}
}

// How a program ended comes from what it printed only if the runtime ended it.
func TestEndedBy(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"exit 4", "exit code 4"},
		{"exit 0", "exit code 0"},
		{"echo one; echo two; exit 1", `exit code 1, after the line "two"`},
		{"kill -9 $$", "signal: killed"},
		{"echo 'runtime: goroutine stack exceeds 250000000-byte limit'; echo 'fatal error: stack overflow'; echo; echo trace; exit 2", "stack overflow"},
		{"echo 'fatal error: concurrent map writes'; echo; echo trace; exit 2", "fatal error: concurrent map writes"},
		{"echo 'panic: of a goroutine'; exit 2", "panic: of a goroutine"},
		{"echo 'panic: of no goroutine'; exit 3", `exit code 3, after the line "panic: of no goroutine"`},
	} {
		out, err := exec.Command("sh", "-c", c.script).CombinedOutput()
		if got := endedBy(err, string(out)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

// Of a deep recursion, a path has the calls at both ends.
func TestPathOf(t *testing.T) {
	var stack []step
	for i := range 1000 {
		stack = append(stack, step{id: i})
	}
	if p := pathOf(stack); len(p) != maxPath || p[0].id != 0 || p[maxPath/2].id != 1000-maxPath/2 || p[maxPath-1].id != 999 {
		t.Errorf("got %v", p)
	}
	if p := pathOf(stack[:40]); len(p) != 40 || p[39].id != 39 {
		t.Errorf("got %v", p)
	}
}

// A program that ends before it has computed anything is an error that says how.
func TestEndedTooSoon(t *testing.T) {
	one := &side{name: "B", binary: "/bin/sh", folder: t.TempDir()}
	if _, err := os.Stat(one.binary); err != nil {
		t.Skip("no shell here")
	}
	_, err := one.run(t.Context(), "hashes", program.Job{Kind: program.Hashes})
	const want = "line: side B exits before the tick (exit code "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
