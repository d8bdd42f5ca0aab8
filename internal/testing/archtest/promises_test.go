package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A test is named alone if it is in the page's own package, otherwise after the
	// folder of its package: "replay.TestFaults".
	testSpan = regexp.MustCompile(`^(?:([\w/]+)\.)?((?:Test|Fuzz|Benchmark)[A-Z]\w*)$`)
	testRun  = regexp.MustCompile(`^(go test|samestep) `) // [TestTestCommands] and a test of clustertool look closer
)

// promiseFindings looks at the tables of a page for rows without a test. It looks in
// the whole page for tests, benchmarks and verbs that do not exist. Names without a
// package are those of the folder home. Every table needs tests, if all is true.
func (t *tree) promiseFindings(page, text, home string, all bool) []finding {
	var found []finding
	line, column := 0, -1 // of the tests, in the table that is being read
	add := func(format string, args ...any) {
		found = append(found, finding{page, line, "promise", fmt.Sprintf(format, args...)})
	}
	tables := 0
	before := ""
	for s := range strings.Lines(text) {
		line++
		switch {
		case !strings.HasPrefix(s, "|"):
			column = -1
		case strings.HasPrefix(s, "|---"):
			if column = slices.Index(cells(before), "test"); column >= 0 {
				tables++
			} else if all {
				add("the table has no column of tests")
			}
		case column >= 0:
			row := cells(s)
			if column >= len(row) || !t.namesTest(row[column], home) {
				add("the row %q names no test", row[0])
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(s, -1) {
			if wrong := t.wrongTest(m[1], home); wrong != "" {
				add("%s", wrong)
			}
		}
		before = s
	}
	if tables == 0 {
		add("there is no table with tests")
	}
	return found
}

// cells returns the cells of a table's row.
func cells(row string) []string {
	all := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " |")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// namesTest reports whether a cell names something that exists and runs.
func (t *tree) namesTest(cell, home string) bool {
	return slices.ContainsFunc(codeSpan.FindAllStringSubmatch(cell, -1), func(m []string) bool {
		runs := testSpan.MatchString(m[1]) || testRun.MatchString(m[1])
		return runs && t.wrongTest(m[1], home) == ""
	})
}

// wrongTest returns what is wrong with a code span that names a test, or
// nothing if it is right or something else.
func (t *tree) wrongTest(span, home string) string {
	if m := testSpan.FindStringSubmatch(span); m != nil {
		if m[1] != "" {
			home = m[1]
		}
		if !t.hasTest(home, func(name string) bool { return name == m[2] }) {
			return "there is no " + m[2] + " in " + home
		}
	}
	return ""
}

// hasTest reports whether a package has a test, fuzz target or benchmark of a name.
func (t *tree) hasTest(pkg string, is func(name string) bool) bool {
	p := t.find(path.Clean(pkg))
	return p != nil && slices.ContainsFunc(p.files, func(f *file) bool {
		return f.test && slices.ContainsFunc(f.ast.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Recv == nil && is(fn.Name.Name)
		})
	})
}

// Every row of the threat model and of the scenarios names a test that exists.
func TestPromises(t *testing.T) {
	tr := ours(t)
	for name, all := range map[string]bool{"docs/threat-model.md": true, "docs/scenarios.md": false} {
		page, err := os.ReadFile(filepath.Join(tr.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		report(t, tr.promiseFindings(name, string(page), "server", all))
	}
}

func TestPromisesControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/b/b_test.go": "package b\nfunc TestHere() {}\nfunc BenchmarkStep() {}\nfunc (t T) TestMethod() {}\n",
		"a/b/b.go":      "package b\nfunc TestNoTest() {}\n",
		"c/c_test.go":   "package c\nfunc TestThere() {}\nfunc FuzzAll() {}\n",
	})
	page := func(rows ...string) string {
		return "# x\n\n| what | test | more |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	}
	check := func(text string, want ...string) {
		t.Helper()
		expect(t, tr.promiseFindings("p.md", text, "a/b", true), want...)
	}
	check(page("| good | `TestHere` | x |", "| good | as in `c.TestThere`, `c.FuzzAll` | x |", "| good | `go test ./a/b -run '^$' -bench Step -benchtime 1x` | x |",
		"| good | `samestep attack --all` | x |", "| good | `go test ./c -run 'The|Not' -args -x` | x |"))
	check(page("| none | in the package | x |", "| elsewhere | | `TestHere` |", "| short |"),
		`p.md:5: promise: the row "none" names no test`, `p.md:6: promise: the row "elsewhere" names no test`, `p.md:7: promise: the row "short" names no test`)
	check(page("| gone | `TestGone` | x |"), `the row "gone" names no test`, "there is no TestGone in a/b")
	check(page("| one of two is gone | `TestHere`, `TestThere` | x |"), "there is no TestThere in a/b")
	check(page("| another package | `c.TestHere`, `TestHere` | x |"), "there is no TestHere in c")
	check(page("| no package | `d.TestHere`, `TestHere` | x |"), "there is no TestHere in d")
	check(page("| not run as a test | `TestNoTest`, `TestMethod`, `TestHere` | x |"), "there is no TestNoTest in a/b", "there is no TestMethod in a/b")
	check(page("| a | `TestHere` | x |")+"\n`TestGone` in the text\n", "p.md:7: promise: there is no TestGone in a/b")
	check(page("| a | `TestHere` | x |")+"\n| what | why |\n|---|---|\n| a | b |\n", "p.md:8: promise: the table has no column of tests")
	check("# no table\n", "there is no table with tests")
}
