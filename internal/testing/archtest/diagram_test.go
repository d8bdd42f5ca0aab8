package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// diagramRow is a package in the diagram of ARCHITECTURE.md: its path, and the
// packages that it imports, up to two spaces.
var diagramRow = regexp.MustCompile(`(?m)^    ([a-z][a-z/]*) +─► (\S+(?: \S+)*)(?:  |$)`)

// diagramFindings compares the diagram with the imports of the code that is no test,
// and its order with the arrows: they point to rows above.
func diagramFindings(tr *tree, page string) []finding {
	var found []finding
	add := func(text string) { found = append(found, finding{"ARCHITECTURE.md", 0, "diagram", text}) }
	above := map[string]bool{}
	for _, row := range diagramRow.FindAllStringSubmatch(page, -1) {
		name, drawn := row[1], strings.Fields(row[2])
		if row[2] == "nothing" {
			drawn = nil
		}
		at := slices.IndexFunc(tr.pkgs, func(p *pkg) bool { return p.path == name })
		if at < 0 {
			add("there is no package " + name)
			continue
		}
		if real := ownImports(tr, tr.pkgs[at]); !slices.Equal(drawn, real) {
			add(name + ": got " + strings.Join(drawn, " ") + ", want " + strings.Join(real, " "))
		}
		for _, other := range drawn {
			if !above[other] {
				add(name + ": " + other + " is not above it")
			}
		}
		above[name] = true
	}
	if len(above) == 0 {
		add("the page has no diagram")
	}
	return found
}

// ownImports returns the packages of this module, without internal ones, that the
// code of a package imports, in order.
func ownImports(tr *tree, p *pkg) []string {
	var list []string
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if own, ok := strings.CutPrefix(name, tr.module+"/"); ok && !under("internal/...", own) && !strings.Contains(own, "/internal/") {
				list = append(list, own)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestDiagram(t *testing.T) {
	tr := ours(t)
	page, err := os.ReadFile(filepath.Join(tr.dir, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, diagramFindings(tr, string(page)))
}

func TestDiagramControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go":      "package a\n",
		"b/b.go":      "package b\nimport (\n\"fmt\"\n\"example.test/m/a\"\n\"example.test/m/internal/x\"\n)\n",
		"b/b_test.go": "package b\nimport \"example.test/m/c\"\n",
		"c/c.go":      "package c\nimport \"example.test/m/b\"\n",
	})
	if got := diagramFindings(tr, "    a  ─► nothing  first\n    b  ─► a          second\n    c  ─► b\n"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	expect(t, diagramFindings(tr, "    c  ─► b    first\n    b  ─► nothing  second\n    d  ─► a  none\n"),
		"ARCHITECTURE.md:0: diagram: c: b is not above it",
		"ARCHITECTURE.md:0: diagram: b: got , want a",
		"ARCHITECTURE.md:0: diagram: there is no package d",
	)
	expect(t, diagramFindings(tr, "no rows"), "ARCHITECTURE.md:0: diagram: the page has no diagram")
}

// walkStep is a step of the way of one command: a file and a function.
var walkStep = regexp.MustCompile(`(?m)^    (\S+\.go):(\S+)`)

// walkFindings looks for steps whose function is not in their file.
func walkFindings(tr *tree, page string) []finding {
	there := map[string]bool{}
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := fn.Name.Name
				if fn.Recv != nil {
					name = typeName(fn.Recv.List[0].Type) + "." + name
				}
				there[f.name+":"+name] = true
			}
		}
	}
	var found []finding
	steps := walkStep.FindAllStringSubmatch(page, -1)
	for _, m := range steps {
		if step := m[1] + ":" + m[2]; !there[step] {
			found = append(found, finding{"ARCHITECTURE.md", 0, "walk", "there is no " + step})
		}
	}
	if len(steps) == 0 {
		found = append(found, finding{"ARCHITECTURE.md", 0, "walk", "the page has no walk"})
	}
	return found
}

func TestWalk(t *testing.T) {
	tr := ours(t)
	page, err := os.ReadFile(filepath.Join(tr.dir, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, walkFindings(tr, string(page)))
}

func TestWalkControl(t *testing.T) {
	tr := treeOf(t, map[string]string{"a/a.go": "package a\ntype T int\nfunc (t *T) Do() {}\nfunc F() {}\n"})
	if got := walkFindings(tr, "    a/a.go:T.Do  one\n    a/a.go:F\n"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	expect(t, walkFindings(tr, "    a/a.go:T.Gone  one\n"), "ARCHITECTURE.md:0: walk: there is no a/a.go:T.Gone")
	expect(t, walkFindings(tr, "none"), "ARCHITECTURE.md:0: walk: the page has no walk")
}
