package line

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
)

// TestBugs fails if a probe is missing, and if the probes of two versions are paired in a wrong way. It has
// at least every second bug of the game, so that a few lucky guesses are not enough. Without SAMESTEP_LINES it has one.
func TestBugsNotice(t *testing.T) {
	needsGo(t)
	x, list, least := newBench(t, "platforms"), bugs["platforms"], 2
	if every == 0 {
		list, least = list[:1], 1
	}
	spoils := []struct {
		name  string
		spoil build
		score score
	}{
		{name: "no values", spoil: bench.noValues},
		{name: "no probe on the line", spoil: bench.noLine},
		{name: "no partners", spoil: bench.noPartners},
		{name: "the partner is the next one", spoil: bench.nextPartner},
	}
	if every == 0 {
		spoils = spoils[:1]
	}
	for _, b := range chosen(t, list, min(max(every, 1), 2), func(b bug) string { return b.name }) {
		for i := range spoils {
			x.try(&spoils[i].score, b, spoils[i].spoil)
		}
	}
	for i := range spoils {
		c := &spoils[i]
		s := &c.score
		t.Logf("%s: %d bugs, %d on the line, %d in the function", c.name, s.planted, s.line, s.function)
		if s.planted < least || s.good() {
			t.Errorf("%s: got %d of %d on the line and %d in the function, want too few", c.name, s.line, s.planted, s.function)
		}
	}
}

var (
	probes     = regexp.MustCompile(`(if samestepProbe\.On \{ samestepProbe\.[BWRD]\([^{}]*\) \}|samestepProbe\.V\(\d+, )`)
	statements = regexp.MustCompile(`if samestepProbe\.On \{ samestepProbe\.S\([^{}]*\) \}; `)
)

// without replaces what a function finds in the woven copies. line is the number of a line.
func (x bench) without(p weave.Program, replace func(line int, src []byte) []byte) {
	x.t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(p.Overlay), "*.go"))
	if err != nil || len(files) == 0 {
		x.t.Fatal("no woven files", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			x.t.Fatal(err)
		}
		lines := bytes.SplitAfter(src, []byte("\n"))
		for i, l := range lines {
			lines[i] = replace(i+1, l)
		}
		if err := os.WriteFile(name, bytes.Join(lines, nil), 0o600); err != nil {
			x.t.Fatal(err)
		}
	}
}

// dropped is a line without the probes of values.
func dropped(src []byte) []byte {
	return probes.ReplaceAllFunc(src, func(b []byte) []byte {
		if bytes.HasPrefix(b, []byte("if")) {
			return nil
		}
		return []byte("(")
	})
}

// noValues takes the probes of assigned, tested and returned values out of one version.
func (x bench) noValues(v planted) [2]*side {
	return [2]*side{x.a, x.version(v.edits, func(_ *side, p weave.Program) {
		x.without(p, func(_ int, src []byte) []byte { return dropped(src) })
	})}
}

// noLine takes the probes of the planted lines out of both versions.
func (x bench) noLine(v planted) [2]*side {
	drop := func(lines []int) func(*side, weave.Program) {
		return func(_ *side, p weave.Program) {
			x.without(p, func(line int, src []byte) []byte {
				if !slices.Contains(lines, line) {
					return src
				}
				return statements.ReplaceAll(dropped(src), nil)
			})
		}
	}
	return [2]*side{x.version(nil, drop(v.inOld)), x.version(v.edits, drop(v.inNew))}
}

// noPartners makes each probe of one version the partner of none, or of a wrong one.
func (x bench) noPartners(v planted) [2]*side {
	return [2]*side{x.a, x.version(v.edits, func(one *side, _ weave.Program) {
		for i := range one.source.Sites {
			s := &one.source.Sites[i]
			s.Text, s.Name = fmt.Sprint("probe ", i%7), fmt.Sprint(i%5)
		}
	})}
}

// nextPartner makes each probe of one version the partner of the one after it in the function.
func (x bench) nextPartner(v planted) [2]*side {
	return [2]*side{x.a, x.version(v.edits, func(one *side, _ weave.Program) {
		sites := one.source.Sites
		for i := range sites {
			if next := i + 1; next < len(sites) && sites[next].Func == sites[i].Func {
				sites[i].Text, sites[i].Name, sites[i].Kind = sites[next].Text, sites[next].Name, sites[next].Kind
			}
		}
	})}
}

// Only the planted lines count, and only in the file of the bug.
func TestJudge(t *testing.T) {
	const file = "examples/hold/step.go"
	sites := []weave.Site{{Func: "hold.step", File: file, Line: 10}, {Func: "hold.step", File: file, Line: 20}, {Func: "hold.other", File: file, Line: 30}}
	sides := [2]*side{{source: &weave.Source{Sites: sites}}, {source: &weave.Source{Sites: sites}}}
	for _, row := range []struct {
		name           string
		place          *Place
		line, function int
	}{
		{"the line", &Place{file, 12, "hold.step", "x = 1"}, 1, 1},
		{"the function", &Place{file, 20, "hold.step", "y = 1"}, 0, 1},
		{"another function", &Place{file, 30, "hold.other", "y = 1"}, 0, 0},
		{"another file", &Place{"examples/hold/move.go", 12, "hold.move", "x = 1"}, 0, 0},
		{"what uses the constant", &Place{"examples/hold/move.go", 50, "hold.move", "x = limit"}, 1, 1},
		{"what is no bug", &Place{file, 12, "hold.step", "z = limit"}, 0, 1},
		{"nothing", nil, 0, 0},
	} {
		var s score
		s.judge(bug{file: "step.go", also: "limit", not: "z ="}, "hold", &Result{Tick: 5, Finding: &Finding{Where: [2]*Place{nil, row.place}}}, []int{12}, []int{12}, sides)
		if s.planted != 1 || s.line != row.line || s.function != row.function {
			t.Errorf("%s: got %d on the line and %d in the function, want %d and %d", row.name, s.line, s.function, row.line, row.function)
		}
	}
	for _, s := range []score{{planted: 10, line: 8, function: 10}, {planted: 10, line: 10, function: 9}} {
		if s.good() {
			t.Errorf("%+v is good", s)
		}
	}
	if s := (score{planted: 10, line: 9, function: 10}); !s.good() {
		t.Errorf("%+v is not good", s)
	}
}
