package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
)

// The table of long tests stands between these lines.
const (
	longBegin = "<!-- long tests: go test ./internal/testing/archtest -run TestLongTests -rewrite -->\n"
	longEnd   = "<!-- end -->\n"
)

// gates are the functions of package testenv that leave something to .ci/run, with the column of the table.
var gates = map[string]int{"Long": 0, "Named": 0, "Small": 1, "ByNight": 2, "Night": 2}

// longTests returns the table: a row for each package that leaves something to .ci/run.
func longTests(tr *tree) string {
	var b strings.Builder
	b.WriteString("| package | skipped | small | long at night only |\n|---|---|---|---|\n")
	for _, p := range tr.pkgs {
		var columns [3][]string
		for _, f := range p.files {
			if !f.test || p.path == "internal/testing/testenv" {
				continue
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				for _, gate := range gatesOf(fn) {
					columns[gate] = append(columns[gate], fn.Name.Name)
				}
			}
		}
		if slices.ContainsFunc(columns[:], func(c []string) bool { return len(c) > 0 }) {
			fmt.Fprintf(&b, "| `%s` |", p.path)
			for _, c := range columns {
				slices.Sort(c)
				fmt.Fprintf(&b, " %s |", strings.Join(slices.Compact(c), ", "))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// gatesOf returns the columns of the gates that a function calls.
func gatesOf(fn *ast.FuncDecl) (columns []int) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "testenv" {
				if column, ok := gates[s.Sel.Name]; ok {
					columns = append(columns, column)
				}
			}
		}
		return true
	})
	return columns
}

// All tests that leave something to .ci/run are listed.
func TestLongTests(t *testing.T) {
	tr := ours(t)
	name := filepath.Join(tr.dir, "docs", "engine-tests.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), longBegin)
	_, after, ended := strings.Cut(rest, longEnd)
	if !ok || !ended {
		t.Fatalf("%s has no lines %q and %q", name, longBegin, longEnd)
	}
	want := before + longBegin + longTests(tr) + longEnd + after
	if script.Rewrite() {
		err = os.WriteFile(name, []byte(want), 0o644)
	} else if want != string(page) {
		t.Error("docs/engine-tests.md does not list the long tests as they are; -rewrite does")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLongTestsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a_test.go": "package a\nfunc TestB() { testenv.Long(t) }\nfunc TestA() { f(func() { testenv.Named(t) }) }\nfunc TestC() { if testenv.Small(t) { testenv.Night(t) } }\nfunc TestD() { testenv.Or(t) }",
		"b/b_test.go": "package b\nfunc TestB() {}",
	})
	if got, want := longTests(tr), "| package | skipped | small | long at night only |\n|---|---|---|---|\n| `a` | TestA, TestB | TestC | TestC |\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
