//go:build !js

package mutants

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const before = `package p

type table struct{ rows []int }

func (t *table) clear() { t.rows = nil }

func (t table) grow(n int) (int, bool) {
	size := len(t.rows)
	if size > 9 || n < 0 || size+n > 99 {
		return size, false // full
	}
	switch {
	case n == 1, n == 2:
		t.rows = append(t.rows, 1)
	default:
		t.rows = append(t.rows, make([]int, n)...)
	}
	if last, ok := t.last(); ok && !(last == n) {
		size++
		return size, true
	}
	size--
	size *= 2
	return size, true
}

func first[T any](list []T) T { return list[0] }
`

// A rule changes the one place that it matches.
func TestRule(t *testing.T) {
	for _, row := range []struct{ name, rule, old, new string }{
		{"expression", "a > 9 -> false", "size > 9", "false"},
		{"two of three conditions", "a || b || c -> a", "size > 9 || n < 0 || size+n > 99", "(size > 9)"},
		{"last condition", "a || c + b > 99 -> a", "size > 9 || n < 0 || size+n > 99", "(size > 9 || n < 0)"},
		{"parentheses stay where they are needed", "a + n -> a * 2", "size+n", "(size * 2)"},
		{"operand with an operator", "a + n > b -> -n > b", "size+n > 99", "(-n > 99)"},
		{"what is in parentheses", "a && !(b == n) -> b == n", "ok && !(last == n)", "(last == n)"},
		{"the same twice", "a = append(a, 1) -> a = nil", "t.rows = append(t.rows, 1)", "t.rows = nil"},
		{"field", "l(a.b) -> cap(a.b)", "len(t.rows)", "cap(t.rows)"},
		{"new field of one letter", "l(a.b) -> l(a.z)", "len(t.rows)", "len(t.z)"},
		{"variadic call", "append(a, b...) -> a", "append(t.rows, make([]int, n)...)", "t.rows"},
		{"type", "make([]t, n) -> make([]t, n, 2*n)", "make([]int, n)", "make([]int, n, 2*n)"},
		{"delete a statement", "a-- ->", "size--", ""},
		{"delete two", "a--; a *= b ->", "size--\n\tsize *= 2", ""},
		{"swap two", "a--; a *= b -> a *= b; a--", "size--\n\tsize *= 2", "size *= 2; size--"},
		{"insert", "a-- -> a--; a++", "size--", "size--; size++"},
		{"body", "if l, o := t.last(); o && b { z } -> if l, o := t.last(); b { z }", "if last, ok := t.last(); ok && !(last == n)", "if last, ok := t.last(); (!(last == n))"},
		{"body alone", "if a || b > 99 { z } -> z", "if size > 9 || n < 0 || size+n > 99 {\n\t\treturn size, false // full\n\t}", "return size, false"},
		{"end of a body", "if l, o := t.last(); c { a++; z } -> if l, o := t.last(); c { z }", "ok && !(last == n) {\n\t\tsize++", "(ok && !(last == n)) {"},
		{"case", "case a, b: z -> case b: z", "case n == 1, n == 2:", "case (n == 2):"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := applied(before, "p.table.grow", row.rule)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(before, row.old, row.new, 1)
			if !slices.Equal(strings.Fields(got), strings.Fields(want)) { // a rule is one line
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// applied returns a source with what a rule changes in it.
func applied(source, fn, rule string) (string, error) {
	f, err := newFile("p/table.go", []byte(source))
	if err != nil {
		return "", err
	}
	e := engine{packages: map[string][]*file{"p": {f}}}
	p, err := e.place(&Mutant{Name: "m", Func: fn, Rule: rule})
	if err != nil {
		return "", err
	}
	return string(p.edit.apply(f.source)), nil
}

// A rule still matches after variables, receivers and fields are renamed.
func TestRuleAfterRename(t *testing.T) {
	renamed := strings.NewReplacer("(t ", "(list ", "t.", "list.", "size", "count", "rows", "all", "n int", "more int", "n < 0", "more < 0", "+n", "+more").Replace(before)
	const rule = "a > 9 || b < 0 || a+b > c -> b < 0"
	for _, source := range []string{before, renamed} {
		got, err := applied(source, "p.table.grow", rule)
		if err != nil || strings.Contains(got, "> 99") {
			t.Errorf("got %v\n%s", err, got)
		}
	}
}

// The error of a rule that does not match one place says why.
func TestRuleErrors(t *testing.T) {
	for _, row := range []struct{ name, fn, rule, want string }{
		{"nowhere", "p.table.grow", "a > 10 -> false", `mutants: m: "a > 10" matches nothing in p/table.go:7`},
		{"two places", "p.table.grow", "a > b -> false", `mutants: m: "a > b" matches 2 times, want once: p/table.go:9, p/table.go:9`},
		{"nested", "p.table.grow", "a || b -> a", `matches 2 times`},
		{"not the same twice", "p.table.grow", "a = append(b, a) -> a = nil", "matches nothing"},
		{"generic", "p.first", "a -> nil", "p has no function first that is not generic"},
		{"another function", "p.(*table).clear", "a > 9 -> false", `matches nothing in p/table.go:5`},
		{"no such function", "p.table.shrink", "a > 9 -> false", "mutants: m: p has no function table.shrink"},
		{"receiver of another kind", "p.(*table).grow", "a > 9 -> false", "p has no function (*table).grow"},
		{"no arrow", "p.table.grow", "a > 9", "not a rule: no ->"},
		{"nothing to match", "p.table.grow", " -> false", "not a rule: nothing left of ->"},
		{"no Go", "p.table.grow", "a > -> false", "not a rule"},
		{"unknown wildcard", "p.table.grow", "a > 9 -> b", "not a rule: b stands only right of ->"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := applied(before, row.fn, row.rule)
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.HasPrefix(row.want, "not a rule") && !errors.Is(err, errRule) {
				t.Errorf("got %v, want %s\n%s", err, row.want, got)
			}
		})
	}
}
