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

// A smallBug is a mistake in the rules of the game caravan. It is in one statement, of which the probes often see nothing: what a
// call does through a pointer, data that are read before the match, a loop that never ends.
type smallBug struct {
	name           string
	file, old, new string // source, which is in the file once

	// line has further texts, divided by |, of lines that name the bug, besides the new ones, or the old ones if there are no new
	// ones.
	line string
	data string // such as "goods/data/costs.csv:3": the line of data that names it
	hang bool   // the tick never ends
}

var smallBugs = []smallBug{
	// What a call does through a pointer.
	{name: "a copy of a struct is none", file: "rules/papers.go", old: "x := w.Towns[i]\n\t\tu := &x\n", new: "u := &w.Towns[i]\n"},
	{name: "a method of the element and not of its copy", file: "rules/odd.go", old: "other := c\n", new: "other := &c\n"},
	{name: "arguments by pointer are swapped", file: "rules/step.go", old: "pay(&first.Cash, &second.Cash,", new: "pay(&second.Cash, &first.Cash,"},
	{name: "a copy goes the other way", file: "rules/trade.go", old: "copy(t.Recent[1:], t.Recent)", new: "copy(t.Recent, t.Recent[1:])"},
	{name: "a copy is too short", file: "rules/trade.go", old: "copy(t.Recent[1:], t.Recent)", new: "copy(t.Recent[1:], t.Recent[:len(t.Recent)/2])"},
	{name: "a list is reversed as a whole", file: "rules/trade.go", old: "slices.Reverse(t.Recent[1:])", new: "slices.Reverse(t.Recent)"},
	{name: "a list is not cloned", file: "rules/papers.go", old: "recent := slices.Clone(t.Recent)", new: "recent := t.Recent"},
	{name: "too much is cleared", file: "rules/papers.go", old: "clear(recent[3:])", new: "clear(recent[2:])"},
	{name: "clear is forgotten", file: "rules/papers.go", old: "\t\tclear(recent[3:])\n", new: ""},
	{name: "another key is deleted", file: "rules/papers.go", old: "delete(seen, 100)", new: "delete(seen, 101)"},
	{name: "delete is forgotten", file: "ledger/ledger.go", old: "\tdelete(o.m, k)\n\to.keys = slices.DeleteFunc(o.keys, func(other K) bool { return other == k })\n", new: "\tdelete(o.m, k)\n"},
	{name: "a condition of DeleteFunc", file: "rules/trade.go", old: "return l.Paid < before[l.Good] || l.Count == 0", new: "return l.Paid <= before[l.Good] || l.Count == 0"},
	{name: "an array is not copied", file: "rules/trade.go", old: "before := t.Price\n", new: "before := &t.Price\n"},
	{name: "the order of a sort", file: "rules/trade.go", old: "cmp.Compare(b.gain, a.gain)", new: "cmp.Compare(a.gain, b.gain)"},
	{name: "the sides of a comparison", file: "goods/order.go", old: "int(ranks[a] - ranks[b])", new: "int(ranks[b] - ranks[a])"},
	{name: "a place of Insert", file: "rules/papers.go", old: "slices.Insert(recent, 1, last[0]", new: "slices.Insert(recent, 2, last[0]"},
	{name: "a limit of Delete", file: "rules/odd.go", old: "slices.Delete(w.News, 0, 2)", new: "slices.Delete(w.News, 1, 3)"},
	{name: "a list that shares memory is appended to", file: "rules/papers.go", old: "head := list[:2:2]", new: "head := list[:2]"},
	{name: "a tail that shares memory", file: "rules/papers.go", old: "append(list[:3:3], 60)", new: "append(list[:3], 60)"},
	{name: "a pointer into a list that grows", file: "rules/papers.go", old: "\tfirst := &head[0]\n\thead = append(head, 70, 80)\n", new: "\thead = append(head, 70, 80)\n\tfirst := &head[0]\n"},
	{name: "the half of a shared list is sorted", file: "rules/odd.go", old: "slices.Sort(list[:len(list)/2])", new: "slices.Sort(list[len(list)/2:])"},
	{name: "a place in a buffer", file: "roads/roads.go", old: "PutUint32(b[4:], uint32(p.Y))", new: "PutUint32(b[3:], uint32(p.Y))"},
	{name: "a part of a buffer is hashed", file: "roads/roads.go", old: "h.Write(b[:])", new: "h.Write(b[:7])"},
	{name: "bytes in another order", file: "rules/odd.go", old: "binary.BigEndian.PutUint16(buf[4:]", new: "binary.LittleEndian.PutUint16(buf[4:]"},
	{name: "what a builder is given", file: "rules/odd.go", old: "b.WriteByte(',')", new: "b.WriteByte(' ')"},
	{name: "a copy of a struct is not stored", file: "rules/trade.go", old: "\ts.Count++\n\tw.Stamp = s\n", new: "\tw.Stamp = s\n\ts.Count++\n"},
	{name: "a change of a copy in a loop", file: "rules/odd.go", old: "c := w.Caravans[i]\n\t\tc.Purse -= 100", new: "c := &w.Caravans[i]\n\t\tc.Purse -= 100"},
	{name: "a method value that is taken too late", file: "rules/odd.go", old: "\ttold := c.told\n\tcount := c.count\n\tcount(2)\n", new: "\tcount := c.count\n\tcount(2)\n\ttold := c.told\n"},

	// Data.
	{name: "a number of an embedded table", file: "goods/data/costs.csv", old: "silk,80,", new: "silk,81,", data: "goods/data/costs.csv:3"},
	{name: "a word of an embedded table", file: "goods/data/costs.csv", old: "silk,80,1,perish", new: "silk,80,1,plain", data: "goods/data/costs.csv:3"},
	{name: "rows of an embedded table are swapped", file: "goods/data/costs.csv", old: "salt,12,3,plain\nsilk,80,1,perish\n", new: "silk,80,1,perish\nsalt,12,3,plain\n", data: "goods/data/costs.csv:2"},
	{name: "an embedded file system", file: "goods/data/tolls.txt", old: "pass 9", new: "pass 8", data: "goods/data/tolls.txt:3"},
	{name: "a row is missing in an embedded file", file: "goods/data/tolls.txt", old: "ford 5\n", new: "", data: "goods/data/tolls.txt:2"},
	{name: "an embedded file that init reads", file: "goods/data/moods.txt", old: "4 2 7", new: "4 3 7", data: "goods/data/moods.txt:1"},
	{name: "the order in which init announces", file: "goods/order.go", old: "\tannounce(\"share\", func(p int32) int32 { return p * 9 / 10 })\n\tannounce(\"coin\", func(p int32) int32 { return p - 1 })\n", new: "\tannounce(\"coin\", func(p int32) int32 { return p - 1 })\n\tannounce(\"share\", func(p int32) int32 { return p * 9 / 10 })\n", data: "goods/order.go"},
	{name: "a function that init announces", file: "goods/order.go", old: "return p &^ 1", new: "return p | 1"},
	{name: "a statement of init is forgotten", file: "goods/order.go", old: "\tannounce(\"coin\", func(p int32) int32 { return p - 1 })\n", new: "", data: "goods/order.go"},
	{name: "a number in init", file: "goods/order.go", old: "int32(i)*2 + 7", new: "int32(i)*2 + 8", data: "goods/order.go"},
	{name: "a swap in init", file: "goods/order.go", old: "Season[0], Season[3] = Season[3], Season[0]", new: "Season[0], Season[2] = Season[2], Season[0]", data: "goods/order.go"},
	{name: "an initializer that another one needs", file: "goods/order.go", old: "scale  = season(2)", new: "scale  = season(3)"},
	{name: "a function of an initializer", file: "goods/order.go", old: "return n*2 + 1", new: "return n*2 + 2"},
	{name: "a list of a variable", file: "goods/order.go", old: "{10, base, base * 4}", new: "{9, base, base * 4}"},
	{name: "a number in a map of a variable", file: "goods/order.go", old: "\"dates\": 3, \"amber\": 4", new: "\"dates\": 4, \"amber\": 3"},
	{name: "a table of functions", file: "goods/effects.go", old: "{plain, perish, plain, heavy}", new: "{plain, perish, heavy, plain}"},
	{name: "a function in a map", file: "goods/effects.go", old: "\"perish\": perish,", new: "\"perish\": heavy,"},
	{name: "the room in a channel of a variable", file: "goods/order.go", old: "make(chan int32, 3)", new: "make(chan int32, 2)"},
	{name: "the room in a channel", file: "rules/papers.go", old: "make(chan int32, 4)", new: "make(chan int32, 5)"},
	{name: "a function that an initializer calls", file: "goods/goods.go", old: "m[g.Name] = i\n", new: "m[g.Name] = i / 2 * 2\n"},

	// A tick that never ends.
	{name: "a counter that stands still", file: "roads/roads.go", old: "low = mid\n", new: "low = mid / 2\n", hang: true},
	{name: "a step of nothing", file: "rules/papers.go", old: "!at.Toward(w.Towns[i].At, 4)", new: "!at.Toward(w.Towns[i].At, 4-int32(i))", hang: true},
	{name: "a condition that stays", file: "rules/papers.go", old: "for len(goods.Board) > 0 {", new: "for len(goods.Board) >= 0 {", hang: true},
	{name: "a loop along a circle", file: "roads/roads.go", old: "for n := int32(0); int(n) <= len(next); n++ {", new: "for n := int32(0); from < len(next); n++ {", hang: true},
	{name: "a heap that is never in order", file: "ledger/ledger.go", old: "\t\tif least == i {", new: "\t\tif least == i && last > 4 {", hang: true},

	// How sides part, and values of many parts.
	{name: "another case of a select", file: "goods/order.go", old: "\tcase Board <- n:\n\t\treturn true\n", new: "\tcase Board <- n + 1:\n\t\treturn true\n"},
	{name: "a fallthrough is forgotten", file: "rules/trade.go", old: "\t\t\tt.Price[g] += 3\n\t\t\tfallthrough\n", new: "\t\t\tt.Price[g] += 3\n"},
	{name: "a case lets zero through", file: "rules/trade.go", old: "case d < 0:", new: "case d <= 0:"},
	{name: "a case of a label", file: "rules/papers.go", old: "\t\t\t\tcontinue search\n\t\t\tcase", new: "\t\t\t\tbreak search\n\t\t\tcase"},
	{name: "break without its label", file: "rules/papers.go", old: "\t\t\t\tcontinue search\n\t\t\tcase", new: "\t\t\t\tbreak\n\t\t\tcase"},
	{name: "a deferred function has its argument from the beginning", file: "rules/odd.go", old: "defer func() { n = n*2 + k }()", new: "defer func(k int64) { n = n*2 + k }(k)"},
	{name: "the order of deferred functions", file: "rules/odd.go", old: "\tdefer func() { n = n*2 + k }()\n\tdefer func(k int64) { n += k }(k + 3)\n", new: "\tdefer func(k int64) { n += k }(k + 3)\n\tdefer func() { n = n*2 + k }()\n"},
	{name: "a shared variable of closures", file: "rules/odd.go", old: "\ttotal := int64(0)\n\tvar later []func() int64\n\tfor i := range w.Caravans {\n", new: "\tvar later []func() int64\n\tfor i := range w.Caravans {\n\t\ttotal := int64(0)\n"},
	{name: "the order of evaluation", file: "rules/odd.go", old: "i, list[i] = 2, a", new: "i = 2\n\tlist[i] = a"},
	{name: "calls change places", file: "rules/odd.go", old: "a, b := c.count(1), c.count(3)", new: "b, a := c.count(3), c.count(1)"},
	{name: "a variable is shadowed", file: "rules/odd.go", old: "\t\tif purse := w.Caravans[i].Purse; purse > best {\n\t\t\tbest, at = purse, i\n", new: "\t\tif purse := w.Caravans[i].Purse; purse > best {\n\t\t\tbest, at := purse, i\n\t\t\t_, _ = best, at\n"},
	{name: "a number loses bits", file: "rules/odd.go", old: "small := int16(wide)", new: "small := int16(int8(wide))"},
	{name: "a shift before a conversion", file: "rules/odd.go", old: "int64(byteWide)<<2", new: "int64(byteWide<<2)"},
	{name: "a shift the other way", file: "rules/odd.go", old: "+ wide>>shift", new: "+ wide<<shift"},
	{name: "a mask is one bit too long", file: "rules/odd.go", old: "uint32(1)<<shift - 1", new: "uint32(1)<<(shift+1) - 1"},
	{name: "a generic function leaves one out", file: "ledger/ledger.go", old: "for i := range list {\n\t\tn += f(&list[i])", new: "for i := range list[1:] {\n\t\tn += f(&list[i])"},
	{name: "an index of a ring", file: "ledger/ledger.go", old: "(r.at-i)%len(r.list)", new: "(r.at-i+1)%len(r.list)"},
	{name: "a comparison in a heap's order", file: "rules/step.go", old: "return a.Cash > b.Cash", new: "return a.Cash < b.Cash"},
	{name: "a struct literal has a wrong field", file: "rules/trade.go", old: "Load{uint8(o.good), o.count, price}", new: "Load{uint8(o.good), o.count, price + 1}"},
	{name: "a struct of structs", file: "rules/step.go", old: "roads.Point{X: t.At.X + 3, Y: t.At.Y - 1}", new: "roads.Point{X: t.At.X + 3, Y: t.At.Y + 1}"},
	{name: "a cache is not derived again", file: "rules/step.go", old: "\tderive(w, nil)\n", new: "\tw.Worth++\n"},
	{name: "a cache has another sum", file: "rules/step.go", old: "w.Worth += int64(t.Price[g])", new: "w.Worth += int64(t.Price[g]) / 2"},
	{name: "a stable sort", file: "rules/odd.go", old: "int(w.Caravans[a].Tired%5) - int(w.Caravans[b].Tired%5)", new: "int(w.Caravans[a].Tired%5) - int(w.Caravans[b].Tired%4)"},
	{name: "a list is turned by one more", file: "rules/odd.go", old: "append(order[by:], order[:by]...)", new: "append(order[by:], order[:max(by, 1)-1]...)"},
	{name: "a local list has its places swapped", file: "rules/papers.go", old: "list[i], list[j] = list[j], list[i]", new: "list[i], list[j] = list[j], list[j]"},
	{name: "a limit of min", file: "roads/roads.go", old: "p.Y += min(max(q.Y-p.Y, -step), step)", new: "p.Y += min(max(q.Y-p.Y, -step), step+1)"},
	{name: "an offer too many", file: "rules/trade.go", old: "offers[:min(len(offers), 2)]", new: "offers[:min(len(offers), 3)]"},
}
