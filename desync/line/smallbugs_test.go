package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A grade says how well a bug was named.
type grade string

const (
	right   grade = "right"   // the line or the expression
	near    grade = "near"    // another line of its function, or one at most two lines away; or among others
	wrong   grade = "wrong"   // another place
	nothing grade = "nothing" // no place, and nothing that is wrong
	hung    grade = "hang"    // no answer in time
)

// others are in side B of each bug, besides the bug: changes that change nothing.
var others = []edit{
	{"rules/step.go", "// produce makes goods.\n", "// produce makes goods.\n//\n// The comment moves all lines down.\n"},
	{"rules/step.go", "t.Mood = max(t.Mood-1, 0)", "t.Mood = max(0, t.Mood-1)"},
	{"rules/rules.go", "// Town is a place where goods are sold.\n", "// Town is a place where goods are sold.\n// People live there.\n"},
}

// answerWithin is how long an answer may take: hangs are found long before.
const answerWithin = 2 * time.Minute

// TestSmallBugs plants the bugs of the table in a game that has several packages, and grades the answers. By day a few are planted.
func TestSmallBugs(t *testing.T) {
	needsGo(t)
	testenv.Long(t)
	step := every
	if step == 0 {
		step = 16
		if testenv.ByNight(t) {
			step = 1
		}
	}
	x := recorded(t, foreign(t, "caravan", ""), "caravan")
	count := map[grade]int{}
	list := chosen(t, smallBugs, step, func(b smallBug) string { return b.name })
	for _, b := range list {
		from := time.Now()
		g, text := b.try(t, x)
		count[g]++
		t.Logf("%-7s %3.0f s  %s", g, time.Since(from).Seconds(), b.name)
		if g != right {
			t.Logf("%s: %s -> %s\n%s", b.file, b.old, b.new, text)
		}
	}
	t.Logf("%d bugs: %d right, %d near, %d wrong, %d nothing, %d hang", len(list), count[right], count[near], count[wrong], count[nothing], count[hung])
	if count[right]*100 < 95*len(list) || count[right]+count[near] < len(list) {
		t.Error("want 95 % right, and the others near")
	}
}

// try plants a bug, and grades the answer, which it returns as text.
func (b *smallBug) try(t *testing.T, x *tortured) (grade, string) {
	ctx, stop := context.WithTimeout(t.Context(), answerWithin)
	defer stop()
	r, err := x.try(ctx, t, append(slices.Clone(others), edit{b.file, b.old, b.new})...)
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return hung, fmt.Sprint(err)
	}
	if err != nil {
		return nothing, err.Error()
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join(x.dir, b.file))
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, ok := editing(t, x.dir, nil, others)[path]
	if !ok {
		other = a
	}
	return b.grade(r, text.String(), a, other), text.String()
}

// grade compares a result with the bug. sources are those of its file on the two sides without the bug.
func (b *smallBug) grade(r *Result, text string, sources ...[]byte) grade {
	if b.data != "" && strings.Contains(text, "the data differ: "+b.data) {
		return right
	}
	var lines [2][]int
	for i, texts := range [2][2]string{{b.old, b.new}, {b.new, b.old}} {
		at := bytes.Index(sources[i], []byte(b.old))
		lines[i] = ownLines(sources[i][:at], texts[0], texts[1], 0)
	}
	at := (*Place)(nil)
	if r.Finding != nil {
		at = r.Finding.Place()
	}
	if at == nil || r.Finding.Unchanged || r.Finding.Reason == Nothing {
		for _, c := range r.Changed {
			for i, w := range c.Where {
				if w != nil && w.File == b.file && slices.Contains(lines[i], w.Line) {
					return near
				}
			}
		}
		if slices.ContainsFunc(r.Data, func(d Datum) bool { return b.data != "" && strings.Contains(d.String(), b.data) }) {
			return near
		}
		if len(r.Changed)+len(r.Data) == 0 {
			return nothing
		}
		return wrong
	}
	for i, w := range r.Finding.Where {
		if w != nil && w.File == b.file && slices.Contains(lines[i], w.Line) {
			return right
		}
	}
	if b.line != "" && slices.ContainsFunc(strings.Split(b.line, "|"), func(w string) bool { return strings.Contains(at.Source, w) }) {
		return right
	}
	for i, w := range r.Finding.Where {
		if w == nil || w.File != b.file {
			continue
		}
		first := bytes.Count(sources[i][:bytes.Index(sources[i], []byte(b.old))], []byte("\n")) + 1
		if first-2 <= w.Line && w.Line <= first+2+strings.Count(b.new, "\n") || functionAt(sources[i], first) == functionAt(sources[i], w.Line) {
			return near
		}
	}
	return wrong
}

// functionAt returns the declaration around a line of a file, or its place.
func functionAt(content []byte, line int) string {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", content, 0)
	if err != nil {
		return ""
	}
	for _, d := range f.Decls {
		if set.Position(d.Pos()).Line <= line && line <= set.Position(d.End()).Line {
			if fn, ok := d.(*ast.FuncDecl); ok {
				return fn.Name.Name
			}
		}
	}
	return fmt.Sprint(line)
}
