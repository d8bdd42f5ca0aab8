package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
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

var (
	mdAnchor = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	mention  = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchorFindings looks in pages for links to headings that no page has.
func anchorFindings(pages map[string]string) (found []finding) {
	anchors := map[string]bool{}
	for name, text := range pages {
		for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			slug := noSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
			anchors[name+"#"+strings.ReplaceAll(slug, " ", "-")] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range mdAnchor.FindAllStringSubmatch(pages[name], -1) {
			to := name
			if m[1] != "" {
				to = path.Join(path.Dir(name), m[1])
			}
			if !anchors[to+"#"+m[2]] {
				found = append(found, finding{name, 0, "page", fmt.Sprintf("%s has no heading %s", to, m[2])})
			}
		}
	}
	return found
}

// mentionFindings looks in a file of code for pages that do not exist.
func mentionFindings(name, text string, exists func(name string) bool) (found []finding) {
	for _, page := range mention.FindAllString(text, -1) {
		if !exists(page) {
			found = append(found, finding{name, 0, "page", "there is no " + page})
		}
	}
	return found
}

// specWords are the most words that each specification may have, so that another implementer can read it whole.
var specWords = map[string]int{
	"docs/spec/abi.md":        1200,
	"docs/spec/flight.md":     470,
	"docs/spec/datagrams.md":  900,
	"docs/spec/http.md":       math.MaxInt, // written from openapi.json
	"docs/spec/live.md":       5000,
	"docs/spec/recordings.md": 1500,
	"docs/spec/replay.md":     5000,
	"docs/spec/state.md":      900,
	"docs/spec/views.md":      900,
}

// wordFindings looks for specifications with too many words, and without a number of words. A word has a letter or a digit.
func wordFindings(pages map[string]string, most map[string]int) (found []finding) {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		n := 0
		for _, w := range strings.Fields(pages[name]) {
			if strings.ContainsFunc(w, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
				n++
			}
		}
		if limit, ok := most[name]; path.Dir(name) == "docs/spec" && (!ok || n > limit) {
			found = append(found, finding{name, 0, "page", fmt.Sprintf("got %d words, want at most %d", n, limit)})
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
			if under("examples/...", p.path) || p.path == "cmd/samestep/tool" && f.test {
				sources = append(sources, read(f.name))
			}
		}
	}
	names := tr.names()
	pages := []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}
	for _, folder := range []string{"docs", "docs/decisions", "docs/spec"} {
		list, err := filepath.Glob(filepath.Join(tr.dir, folder, "*.md"))
		if err != nil || len(list) == 0 {
			t.Errorf("got no pages in %s: %v", folder, err)
		}
		for _, name := range list {
			pages = append(pages, folder+"/"+filepath.Base(name))
		}
	}
	texts := map[string]string{}
	for _, page := range pages {
		texts[page] = read(page)
	}
	report(t, anchorFindings(texts))
	report(t, wordFindings(texts, specWords))
	for _, p := range tr.pkgs {
		if p.path == "internal/testing/archtest" {
			continue // its tests mention pages that do not exist
		}
		for _, f := range p.files {
			report(t, mentionFindings(f.name, read(f.name), exists))
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
	expect(t, anchorFindings(map[string]string{"docs/a.md": "## It's `b` - c\n[x](#its-b---c) [x](spec/b.md#d)\n[x](#gone) [x](spec/b.md#e)", "docs/spec/b.md": "# D\n```\n# e\n```\n"}),
		"docs/a.md:0: page: docs/a.md has no heading gone", "docs/a.md:0: page: docs/spec/b.md has no heading e")
	expect(t, mentionFindings("a.go", "see docs/x/y.md and docs/gone.md", func(name string) bool { return name == "docs/x/y.md" }), "a.go:0: page: there is no docs/gone.md")
	expect(t, wordFindings(map[string]string{"docs/spec/a.md": "| one | – two", "docs/spec/b.md": "one", "docs/b.md": "one"}, map[string]int{"docs/spec/a.md": 1}),
		"docs/spec/a.md:0: page: got 2 words, want at most 1", "docs/spec/b.md:0: page: got 1 words, want at most 0")
	expect(t, quoteFindings("p.md", quotes, []string{"func x() {\n\tf()\n\t\tg()\n}\n"}), "the 2. Go code is in no file")
}
