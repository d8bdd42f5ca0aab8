package archtest

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// obvious are methods whose meaning every Go programmer knows: a comment would
// only repeat the name.
var obvious = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Format", "LogValue",
	"MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON",
}

// commentFindings looks for packages and exported names without a comment.
func commentFindings(tr *tree) []finding {
	var found []finding
	for _, p := range tr.pkgs {
		if !slices.ContainsFunc(p.files, func(f *file) bool { return !f.test }) {
			continue
		}
		if !slices.ContainsFunc(p.files, func(f *file) bool { return !f.test && f.ast.Doc.Text() != "" }) {
			found = append(found, finding{p.files[0].name, 1, "comment", "package " + p.path + " has no comment"})
		}
		for _, f := range p.files {
			if f.test || p.main() {
				continue
			}
			for _, name := range undocumented(f.ast) {
				found = append(found, finding{f.name, tr.line(name.Pos()), "comment", name.Name + " has no comment"})
			}
		}
	}
	return found
}

// undocumented returns the exported names of a file that no comment explains.
func undocumented(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	add := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			names = append(names, name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && (!ast.IsExported(typeName(d.Recv.List[0].Type)) || slices.Contains(obvious, d.Name.Name)) {
				continue
			}
			add(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(name, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return names
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// exampleFindings looks for exported types of the engine that no Example with an
// Output shows: by its name (ExampleT, ExampleT_Method) or by naming the type.
func exampleFindings(tr *tree) []finding {
	var found []finding
	for _, p := range tr.pkgs {
		if p.main() || under("internal/...", p.path) || strings.Contains(p.path, "/internal/") || under("examples/...", p.path) {
			continue
		}
		shown := shownNames(tr, p)
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.TYPE {
					continue
				}
				for _, s := range g.Specs {
					t := s.(*ast.TypeSpec)
					if name := t.Name; name.IsExported() && !t.Assign.IsValid() && !shown[name.Name] {
						found = append(found, finding{f.name, tr.line(name.Pos()), "example", p.path + "." + name.Name + " is in no Example"})
					}
				}
			}
		}
	}
	return found
}

// shownNames returns the names that Examples show of a package: its own Examples,
// those of other packages that name it, and those that name an alias in the package
// above it.
func shownNames(tr *tree, p *pkg) map[string]bool {
	shown := map[string]bool{}
	for _, other := range tr.pkgs {
		for _, e := range examples(other) {
			if other == p {
				name, _, _ := strings.Cut(e.Name, "_")
				shown[name] = true
			}
			ast.Inspect(e.Code, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && (x.Name == path.Base(p.path) || x.Name == path.Base(path.Dir(p.path))) {
						shown[n.Sel.Name] = true
					}
				case *ast.Ident:
					if other == p {
						shown[n.Name] = true
					}
				}
				return true
			})
		}
	}
	return shown
}

// examples returns the Examples of a package that have an output.
func examples(p *pkg) (list []*doc.Example) {
	var tests []*ast.File
	for _, f := range p.files {
		if f.test {
			tests = append(tests, f.ast)
		}
	}
	for _, e := range doc.Examples(tests...) {
		if e.Output != "" || e.EmptyOutput {
			list = append(list, e)
		}
	}
	return list
}

func TestComments(t *testing.T) {
	report(t, commentFindings(ours(t)))
}

func TestExamples(t *testing.T) {
	report(t, exampleFindings(ours(t)))
}

func TestCommentsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go": `package a
type T struct{}
func (t *T) Do() {}
func (t *T) String() string { return "" }
func (t t) Do() {}
type t struct{}
const (
	One = 1 // the first
	Two = 2
)
// Documented is.
func Documented() {}
type G[K any] struct{} // generic
func (g *G[K]) Get() {}
`,
		"b/b.go":      "// Package b is fine.\npackage b\n// Group.\nvar (\n\tX int\n\tY int\n)\n",
		"b/b_test.go": "package b\nfunc Exported() {}",
	})
	expect(t, sorted(commentFindings(tr)),
		"a/a.go:1: comment: package a has no comment",
		"a/a.go:2: comment: T has no comment",
		"a/a.go:3: comment: Do has no comment",
		"a/a.go:9: comment: Two has no comment",
		"a/a.go:14: comment: Get has no comment",
	)
}

func TestExamplesControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go": "package a\ntype Named struct{}\ntype Used struct{}\ntype Silent struct{}\ntype Missed struct{}\ntype hidden struct{}\n",
		"a/example_test.go": `package a_test
import "example.test/m/a"
func ExampleNamed_method() {
	_ = a.Used{}
	// Output:
}
func ExampleSilent() {
	_ = a.Missed{}
}
`,
		"internal/b/b.go": "package b\ntype T struct{}",
		"cmd/c/c.go":      "package main\ntype T struct{}",
	})
	expect(t, sorted(exampleFindings(tr)), "a/a.go:4: example: a.Silent is in no Example", "a/a.go:5: example: a.Missed is in no Example")
}

func sorted(found []finding) []finding {
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	return found
}
