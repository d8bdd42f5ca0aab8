package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The figures of the tree. A change that makes one worse needs a reason.
const (
	maxExported = 166 // exported names of package lockstep: constants, variables, functions, types, methods
	maxSwitches = 6   // switch statements over kinds of records outside of lockstep/record
)

// exportedNames returns the exported names of a package. Fields are not counted.
func exportedNames(p *pkg) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiverOf(d)) {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						add(s.Names...)
					}
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of a method's type.
func receiverOf(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// recordSwitches returns the switch statements outside of lockstep/record that
// tell frames from runs of empty ticks. Other code asks Record.Ticks and Record.Frames.
func recordSwitches(tr *tree) (found []finding) {
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if f.test || p.path == "lockstep/record" {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.SwitchStmt); ok && slices.ContainsFunc(s.Body.List, casesFrame) {
					found = append(found, finding{f.name, tr.line(s.Pos()), "switch", "a switch over kinds of records"})
				}
				return true
			})
		}
	}
	return found
}

// casesFrame reports whether a case names frames or runs of empty ticks.
func casesFrame(clause ast.Stmt) bool {
	return slices.ContainsFunc(clause.(*ast.CaseClause).List, func(e ast.Expr) (named bool) {
		ast.Inspect(e, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			named = named || ok && (s.Sel.Name == "KindFrame" || s.Sel.Name == "KindEmpty")
			return true
		})
		return named
	})
}

func TestFigures(t *testing.T) {
	tr := ours(t)
	switches := recordSwitches(tr)
	for _, f := range []struct {
		name     string
		got, max int
	}{
		{"exported names of lockstep", len(exportedNames(tr.find("lockstep"))), maxExported},
		{"switches over kinds of records", len(switches), maxSwitches},
	} {
		if t.Logf("%s: %d of at most %d", f.name, f.got, f.max); f.got > f.max {
			t.Errorf("%s: got %d, want at most %d", f.name, f.got, f.max)
		}
	}
	if len(switches) > maxSwitches {
		report(t, switches)
	}
}

func TestFiguresControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"lockstep/a.go":        "package p\nconst A, b = 1, 2\nvar C int\ntype (\n\tD struct{ F int }\n\te[T any] int\n)\nfunc G() {}\nfunc (*D) H() {}\nfunc (D) i() {}\nfunc (e[T]) J() {}",
		"lockstep/a_test.go":   "package p\nfunc K() {\n\n}",
		"lockstep/record/r.go": "package record\nfunc f(k Kind) {\n\tswitch k {\n\tcase KindFrame:\n\t}\n}",
		"replay/a.go":          "package replay\nfunc f(k record.Kind) {\n\tswitch k {\n\tcase record.KindEnd:\n\t}\n\tswitch {\n\tcase k == record.KindEmpty:\n\t}\n}",
	})
	if got := strings.Join(exportedNames(tr.find("lockstep")), " "); got != "A C D G H" {
		t.Errorf("got the exported names %s, want A C D G H", got)
	}
	expect(t, recordSwitches(tr), "replay/a.go:6: switch: a switch over kinds of records")
}
