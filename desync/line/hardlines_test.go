package line

import (
	"slices"
	"strings"
)

// A hardLine is a bug in a construct that is hard to give probes. line is in the text of the line that names it; "" means the
// new one.
type hardLine struct{ file, old, new, line string }

var hardLines = map[string]hardLine{
	"a method of a generic type":   {"rules/generics.go", "t.left = t.left.put(k, v)", "t.left = t.left.put(k, t.value)", ""},
	"a generic function":           {"rules/generics.go", "total += v * scale", "total += v * (scale + 1)", ""},
	"a swap of generic values":     {"rules/generics.go", "*p, *other = *other, *p", "*p, *other = *other, *other", ""},
	"a function given to another":  {"rules/generics.go", "wide = append(wide, int64(v)+int64(k))", "wide = append(wide, int64(v)-int64(k))", ""},
	"a closure of a closure":       {"rules/flow.go", "return n * 2", "return n * 3", ""},
	"a method value":               {"rules/flow.go", "return int64(u.X) + int64(by)", "return int64(u.X) - int64(by)", ""},
	"a method expression":          {"rules/flow.go", "u.X += by\n", "u.X += by + 1\n", ""},
	"a select":                     {"rules/flow.go", "total *= 3", "total *= 4", ""},
	"a received value":             {"rules/flow.go", "in <- int64(w.Tick) % 5", "in <- int64(w.Tick) % 4", ""},
	"a deferred function":          {"rules/flow.go", "total = total*3 + n", "total = total*2 + n", ""},
	"after a recovered panic":      {"rules/flow.go", "total += int64(r.(int)) + 7", "total += int64(r.(int)) + 8", ""},
	"a loop made of goto":          {"rules/flow.go", "n += int64(i)\nouter:", "n += int64(i) * 2\nouter:", "n += int64(i) * 2"},
	"a label that is continued":    {"rules/flow.go", "if k == int(w.Tick)%3 {", "if k == int(w.Tick)%2 {", ""},
	"an iterator":                  {"rules/flow.go", "if !yield(i * i) {", "if !yield(i * (i + 1)) {", ""},
	"the body of a range over one": {"rules/flow.go", "if square > 3 {", "if square > 4 {", ""},
	"a function in such a body":    {"rules/flow.go", "defer func() { n++ }()", "defer func() { n += 2 }()", ""},
	"an iterator that is pulled":   {"rules/flow.go", "if v == 9 {", "if v == 16 {", ""},
	"a file with a build tag":      {"rules/tagged.go", "int64(w.Tick) + 2", "int64(w.Tick) + 3", ""},
	"a method by two interfaces":   {"rules/shapes.go", "return b.legs.walk(by) + 1", "return b.legs.walk(by) + 2", ""},
	"an embedded interface":        {"rules/shapes.go", "l.n += by\n", "l.n -= by\n", ""},
	"a shadowed variable":          {"rules/shapes.go", "any += nil", "any -= nil", ""},
	"a function that init made":    {"rules/shapes.go", "n := first * int64(w.Tick)", "n := first - int64(w.Tick)", ""},
	"the order of initialization":  {"rules/shapes.go", "second = third()", "second = third() + 1", ""},
	"a shift":                      {"rules/shapes.go", "1 << (w.Tick % 60)", "2 << (w.Tick % 60)", ""},
	"a constant of iota":           {"rules/shapes.go", "small = 1 << iota", "small = 3 << iota", "small"},
	"what the call returns":        {"rules/orders.go", "c.n++\n\treturn c.n", "c.n += 2\n\treturn c.n", "c.n += 2"},
	"a list that is turned around": {"rules/orders.go", "n = n*3 + p.value", "n = n*2 + p.value", ""},
	"a module of a workspace":      {"sky/sky.go", "c := x * 3", "c := x * 5", ""},
	"a module that replace names":  {"ground/ground.go", "if x%7 == 3 {", "if x%7 == 4 {", ""},
	"a package below internal":     {"rules/internal/kinds/kinds.go", "return k == 1", "return k == 0", ""},
	"a field of a call's result":   {"rules/rules.go", "w.at(int(u.ID) - 1).Hops += uint32(len(w.Units)) / 3", "w.at(int(u.ID) - 1).Hops += uint32(len(w.Units)) * 2", ""},
}

// names reports whether a result names the bug.
func (l *hardLine) names(r *Result) bool {
	if r.Finding == nil || r.Finding.Place() == nil {
		return false
	}
	want := l.line
	if want == "" {
		want = strings.TrimSpace(l.new)
	}
	return slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(r.Finding.Place().Source, w) })
}
