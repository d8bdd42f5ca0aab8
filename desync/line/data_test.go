package line

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
)

// What differs between two runs of one side says nothing.
func TestDataThatAreNotFixed(t *testing.T) {
	v := func(time, cost string) []probe.Variable {
		return []probe.Variable{{Name: "x/goods.Table", Parts: []probe.Part{{Path: ".Read", Value: time}, {Path: ".Cost", Value: cost}}}}
	}
	a, b := fixedParts(v("1", "5"), v("2", "5")), fixedParts(v("3", "6"), v("4", "6"))
	got, ok := differs(v("1", "5")[0], a["x/goods.Table"], b["x/goods.Table"])
	if want := (unequal{"x/goods.Table", ".Cost", [2]string{"5", "6"}}); !ok || got != want {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
	if got, ok := differs(v("1", "5")[0], a["x/goods.Table"], a["x/goods.Table"]); ok {
		t.Errorf("the same twice: got %v", got)
	}
	if got, ok := differs(v("1", "5")[0], a["x/goods.Table"], nil); ok {
		t.Errorf("only one side has it: got %v", got)
	}
}

// The line that the data come from is nearer the nearer it is to the variable that is read.
func TestDataThatAreRead(t *testing.T) {
	file := fileChange{"x/goods", [2]*Place{{"goods/costs.csv", 3, "", "silk,80"}, {"goods/costs.csv", 3, "", "silk,81"}}}
	change := weave.Change{File: "goods/order.go", Package: "x/goods", Line: [2]int{7, 9}, Text: [2]string{"fees = 1", "fees = 2"}, Initial: true}
	site := weave.Site{File: "rules/a.go", Line: 4, Func: "x/rules.pay", Uses: []string{"x/goods.fees"}}
	one := &side{source: &weave.Source{Sites: []weave.Site{site}}}
	for _, c := range []struct {
		name    string
		files   []fileChange
		changes []weave.Change
		want    string
	}{
		{"a file", []fileChange{file}, nil, "the data differ: goods/costs.csv:3  goods.fees[1] is 1 | 2"},
		{"code", nil, []weave.Change{change}, "the data differ: goods/order.go:9  goods.fees[1] is 1 | 2"},
		{"neither", nil, nil, "the data differ: goods.fees[1] is 1 | 2"},
		{"code of another package and a file", []fileChange{file}, []weave.Change{{File: "b.go", Package: "x/b", Line: [2]int{7, 9}, Initial: true}}, "the data differ: goods/costs.csv:3  goods.fees[1] is 1 | 2"},
		{"code that runs in the tick", nil, []weave.Change{{File: "goods/order.go", Package: "x/goods", Line: [2]int{7, 9}}}, "the data differ: goods.fees[1] is 1 | 2"},
	} {
		at := &Place{"rules/a.go", 4, "rules.pay", "return fees[1]"}
		s := &search{result: &Result{Tick: 1, Finding: &Finding{Reason: Value, Where: [2]*Place{at, at}, Text: "fees[1]", Values: [2]string{"1", "2"}}}}
		if s.explained(c.changes) {
			t.Errorf("%s: explained", c.name)
		}
		sides := [2]*side{one, one}
		d := s.readAt(sides, []unequal{{"x/goods.fees", "[1]", [2]string{"1", "2"}}})
		if d == nil {
			t.Fatalf("%s: no variable", c.name)
		}
		s.addData(d, c.files, c.changes, sides)
		if got := s.result.Verdict(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		// What reads the data does not have the line that they come from.
		if p := s.result.Finding.Place(); (p.Func == at.Func) != (p.Line == at.Line) || p.Line == 9 && p.Func != "the declarations of goods" {
			t.Errorf("%s: got %v", c.name, p)
		}
	}
}

// A declaration is in no function.
func TestDeclared(t *testing.T) {
	m := &moment{own: &weave.Site{Func: "x/rules.pay", File: "a.go", Line: 9, Uses: []string{"x/rules.fee"}, Text: "fee"}}
	c := &comparison{a: newStream(nil, nil, nil), b: newStream(nil, nil, nil)}
	for i, text := range []string{"fee = 1", "fee = 2"} {
		c.decls[i] = map[string]weave.Decl{"x/rules.fee": {File: "a.go", Line: 3, Text: text}}
	}
	if got, want := *c.differs(m, m).Place(), (Place{"a.go", 3, "the declaration of rules.fee", "fee = 2"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A line is one to look at if it is changed, or if another one was moved over it.
func TestExplained(t *testing.T) {
	moved := []weave.Change{
		{File: "a.go", Line: [2]int{4, 0}, Text: [2]string{"n++", ""}, Func: [2]string{"f", ""}},
		{File: "a.go", Line: [2]int{0, 7}, Text: [2]string{"", "n++"}, Func: [2]string{"", "f"}},
	}
	for _, c := range []struct {
		name    string
		file    string
		lines   [2]int
		changes []weave.Change
		want    bool
	}{
		{"the changed line", "a.go", [2]int{4, 6}, []weave.Change{{File: "a.go", Line: [2]int{5, 6}}}, true},
		{"the same number in another file", "b.go", [2]int{4, 6}, []weave.Change{{File: "a.go", Line: [2]int{5, 6}}}, false},
		{"a line that another was moved over", "a.go", [2]int{5, 4}, moved, true},
		{"a line after both", "a.go", [2]int{9, 9}, moved, false},
		{"nothing changed", "a.go", [2]int{9, 9}, nil, false},
	} {
		s := &search{result: &Result{Finding: &Finding{Where: [2]*Place{{File: c.file, Line: c.lines[0]}, {File: c.file, Line: c.lines[1]}}}}}
		if got := s.explained(c.changes); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// A changed line that shows the difference is the place, and not the line after which it ran.
func TestSeenAtChangedLine(t *testing.T) {
	change := weave.Change{File: "a.go", Line: [2]int{5, 6}, Text: [2]string{"defer f()", "defer f(k)"}, Func: [2]string{"x.g", "x.g"}}
	for text, want := range map[string]int{"defer f(k) // late": 6, "return k": 9} {
		at := &Place{"a.go", 9, "x.g", "return k * 4"}
		s := &search{result: &Result{Finding: &Finding{Where: [2]*Place{at, at}, First: &Place{"a.go", 6, "x.g", text}}}}
		if ok := s.seenAt([]weave.Change{change}); ok != (want == 6) || s.result.Finding.Place().Line != want {
			t.Errorf("%s: got %v, line %d", text, ok, s.result.Finding.Place().Line)
		}
	}
}

// Without data that the line reads, the changed lines that ran are listed, and the place is no answer.
func TestChangedLinesThatRan(t *testing.T) {
	c := &coverage{
		lines: [2]map[place]bool{{}, {{"a.go", 4}: true, {"a.go", 9}: false}},
		funcs: [2]map[string]bool{{"x.step": true}, {"x.step": true}},
	}
	for _, one := range []struct {
		name   string
		change weave.Change
		want   bool
	}{
		{"a probe that ran", weave.Change{File: "a.go", Line: [2]int{0, 4}}, true},
		{"a probe that did not run", weave.Change{File: "a.go", Line: [2]int{0, 9}, Func: [2]string{"", "x.step"}}, false},
		{"no probe, in a function that ran", weave.Change{File: "a.go", Line: [2]int{5, 0}, Func: [2]string{"x.step", ""}}, true},
		{"no probe, in another function", weave.Change{File: "a.go", Line: [2]int{5, 5}, Func: [2]string{"x.other", "x.other"}}, false},
	} {
		if got := c.has(&one.change); got != one.want {
			t.Errorf("%s: got %v", one.name, got)
		}
	}
	at := &Place{"a.go", 12, "x.step", "y = x"}
	r := &Result{
		Mode: Versions, Tick: 3, Searched: true,
		Finding: &Finding{Reason: Value, Where: [2]*Place{at, at}, Text: "y = x", Values: [2]string{"1", "2"}, Unchanged: true},
		Data:    []Datum{{Values: [2]string{"a", "b"}, Where: [2]*Place{{"t.csv", 2, "", "a"}, {"t.csv", 2, "", "b"}}}},
		Changed: []Change{{[2]*Place{{"a.go", 4, "x.step", "clear(x)"}, nil}}},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `first seen a.go:12  in x.step
               y = x
because    y = x is 1 | 2
data       consistent with it: the data differ: t.csv:2  a | b
changed    consistent with it: 1 changed line that ran in the tick before it, or
             before the match
               a.go:4  clear(x) | –
`
	if _, got, _ := strings.Cut(b.String(), "at tick 3\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := r.Verdict(); got != "first seen where both versions have the same code: y = x is 1 | 2" {
		t.Errorf("got %q", got)
	}
}
