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
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	codeName  = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)?[A-Z]\w*$`)
	codePath  = regexp.MustCompile(`^[.]?[\w-]+(?:/[\w.-]+)+$|^[\w-]+\.(?:go|md|mod)$`) // a module's first part has a dot inside
	mdLink    = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	goFence   = regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	tableRow  = regexp.MustCompile("(?m)^\\| `([^`]+\\.[^`]+/[^`]+)` \\|")
	modDirect = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+\.[\w./-]+) v\S+$`)
)

// names are all that a page can speak of: "Submit", "Coordinator.Submit" and
// "coordinator.Coordinator", for types, functions, methods, fields and values; and
// of tests, by their function, and after the folder of their package.
func (t *tree) names() map[string]bool {
	names := map[string]bool{}
	for _, p := range t.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if !f.test {
					addNames(names, f.ast.Name.Name, d)
				} else if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
					names[fn.Name.Name], names[p.path+"."+fn.Name.Name] = true, true
				}
			}
		}
	}
	return names
}

func addNames(names map[string]bool, pkg string, d ast.Decl) {
	add := func(owner, name string) { names[name], names[owner+"."+name] = true, true }
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			pkg = typeName(d.Recv.List[0].Type)
		}
		add(pkg, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add(pkg, name.Name)
				}
			case *ast.TypeSpec:
				add(pkg, s.Name.Name)
				for _, member := range members(s.Type) {
					add(s.Name.Name, member)
				}
			}
		}
	}
}

// members returns the names of a struct's fields or an interface's methods.
func members(e ast.Expr) []string {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	var found []string
	for _, field := range list.List {
		for _, name := range field.Names {
			found = append(found, name.Name)
		}
	}
	return found
}

// pageFindings looks in a page, outside of fenced code, for names, paths and
// links that lead nowhere.
func pageFindings(page, text string, names map[string]bool, exists func(name string) bool) []finding {
	var found []finding
	line, fenced := 0, false
	for s := range strings.Lines(text) {
		line++
		if strings.HasPrefix(s, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(s, -1) {
			switch {
			case codeName.MatchString(m[1]) && !names[m[1]]:
				found = append(found, finding{page, line, "page", "nothing has the name " + m[1]})
			case codePath.MatchString(m[1]) && !exists(m[1]) && !names[m[1]]:
				found = append(found, finding{page, line, "page", "there is no " + m[1]})
			}
		}
		for _, m := range mdLink.FindAllStringSubmatch(s, -1) {
			if !exists(path.Join(path.Dir(page), m[1])) { // a link starts at its page
				found = append(found, finding{page, line, "page", "there is no " + m[1]})
			}
		}
	}
	return found
}

// dependencyFindings compares the table of dependencies with go.mod.
func dependencyFindings(page, mod string) []finding {
	var inPage, inMod []string
	for _, m := range tableRow.FindAllStringSubmatch(page, -1) {
		inPage = append(inPage, m[1])
	}
	for _, m := range modDirect.FindAllStringSubmatch(mod, -1) { // lines that end in "// indirect" do not match
		inMod = append(inMod, m[1])
	}
	var found []finding
	for _, m := range inMod {
		if !slices.Contains(inPage, m) {
			found = append(found, finding{"ARCHITECTURE.md", 0, "dependency", m + " has no row with its reason"})
		}
	}
	for _, m := range inPage {
		if !slices.Contains(inMod, m) {
			found = append(found, finding{"ARCHITECTURE.md", 0, "dependency", m + " is not in go.mod"})
		}
	}
	return found
}

// quoteFindings looks in a page for Go code that none of the sources has, so
// that what a page shows compiles. Indentation does not count.
func quoteFindings(page, text string, sources []string) []finding {
	flat := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		return b.String()
	}
	var found []finding
	for i, m := range goFence.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(flat(s), flat(m[1])) }) {
			found = append(found, finding{page, 0, "quote", fmt.Sprintf("the %d. Go code is in no file of examples", i+1)})
		}
	}
	return found
}

func TestPages(t *testing.T) {
	tr := ours(t)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(tr.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(tr.dir, filepath.FromSlash(path)))
		return err == nil
	}
	const sample = "cmd/samestep/tool/internal/scaffold/"
	inNewGame := func(path string) bool { return exists(path) || exists(sample+path) || exists(sample+"program/"+path) }
	var sources []string
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if under("examples/...", p.path) {
				sources = append(sources, read(f.name))
			}
		}
	}
	names := tr.names()
	pages := []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}
	for _, folder := range []string{"docs", "docs/decisions"} {
		list, err := filepath.Glob(filepath.Join(tr.dir, folder, "*.md"))
		if err != nil || len(list) == 0 {
			t.Errorf("got no pages in %s: %v", folder, err)
		}
		for _, name := range list {
			pages = append(pages, folder+"/"+filepath.Base(name))
		}
	}
	for _, page := range pages {
		found := exists
		if page == "docs/studio.md" {
			found = inNewGame
		}
		report(t, pageFindings(page, read(page), names, found))
		report(t, quoteFindings(page, read(page), sources))
	}
	report(t, dependencyFindings(read("ARCHITECTURE.md"), read("go.mod")))
}

func TestPagesControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go":        "package a\ntype T struct{ Field int }\nfunc (t *T) Do() {}\ntype I interface{ Ask() }\nconst One = 1\n",
		"a/a_test.go":   "package a\nfunc TestHere() {}\nfunc Helper() {}\n",
		"a/b/b_test.go": "package b\nfunc TestBelow() {}\n",
	})
	exists := func(path string) bool { return path == "a/a.go" || path == "README.md" }
	page := "`T` `a.T` `T.Do` `Do` `T.Field` `I.Ask` `One` `a.One` `a/a.go` [x](README.md) [web](https://example.test/x) `go run` `github.com/x/y` `TestHere` `a.TestHere` `a/b.TestBelow`\n" +
		"`Gone` and `T.Gone`\n`a/b.go`\n[x](MISSING.md)\n`TestGone` `Helper` `a/b.TestGone`\n```go\nf[T](x)\n```\n"
	expect(t, pageFindings("p.md", page, tr.names(), exists),
		"p.md:2: page: nothing has the name Gone",
		"p.md:2: page: nothing has the name T.Gone",
		"p.md:3: page: there is no a/b.go",
		"p.md:4: page: there is no MISSING.md",
		"p.md:5: page: nothing has the name TestGone",
		"p.md:5: page: nothing has the name Helper",
		"p.md:5: page: there is no a/b.TestGone",
	)

	mod := "module m\n\nrequire (\n\tgithub.com/x/here v1.0.0\n\tgithub.com/x/new/v2 v2.0.0\n)\nrequire github.com/x/far v1.0.0 // indirect\n"
	expect(t, dependencyFindings("| `github.com/x/here` | a | b |\n| `github.com/x/old` | a | b |\n", mod),
		"github.com/x/new/v2 has no row", "github.com/x/old is not in go.mod")

	quotes := "```go\nf()\n\tg()\n```\n\n```go\nh()\n```\n"
	expect(t, quoteFindings("p.md", quotes, []string{"func x() {\n\tf()\n\t\tg()\n}\n"}), "the 2. Go code is in no file")
}
