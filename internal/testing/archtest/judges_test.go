package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// judgeWords are what the types of a judgement on a desync are called: who was
// wrong, and why.
var judgeWords = []string{"verdict", "cause", "group", "blame", "party", "culprit", "judge", "attribution"}

// judgeFindings returns the types outside of the package that judges which have
// the name of a judgement, and how many packages have such types. A game may call
// its types as it likes.
func judgeFindings(tr *tree, judge string) (found []finding, judges int) {
	for _, p := range tr.pkgs {
		judging := false
		for _, f := range p.files {
			if f.test || under("examples/...", p.path) {
				continue
			}
			for _, name := range typeNames(f.ast) {
				if !slices.Contains(judgeWords, strings.ToLower(name.Name)) {
					continue
				}
				if judging = true; p.path != judge {
					found = append(found, finding{f.name, tr.line(name.Pos()), "judges", "type " + name.Name + ": only package " + judge + " judges who was wrong"})
				}
			}
		}
		if judging {
			judges++
		}
	}
	return found, judges
}

// typeNames returns the names of the types of a package in one file.
func typeNames(f *ast.File) (names []*ast.Ident) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, s := range d.Specs {
				names = append(names, s.(*ast.TypeSpec).Name)
			}
		}
	}
	return names
}

// One package judges who was wrong: desync. There were three, and what they said
// did not always agree.
func TestOneJudge(t *testing.T) {
	found, judges := judgeFindings(ours(t), "desync")
	report(t, found)
	if judges != 1 {
		t.Errorf("judges of who was wrong: got %d, want 1", judges)
	}
}

func TestOneJudgeControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"cmd/a.go":          "package main\nfunc f() {\n\ttype group int\n}",
		"desync/a.go":       "package desync\ntype Verdict struct{}\ntype Cause int",
		"examples/cards.go": "package examples\ntype Party struct{}",
		"replay/a.go":       "package replay\ntype Verification struct{}\ntype (\n\tVerdict = int\n)",
		"replay/a_test.go":  "package replay\ntype Blame struct{}",
		"server/a.go":       "package server\ntype verdict struct{}",
	})
	found, judges := judgeFindings(tr, "desync")
	expect(t, found,
		"replay/a.go:4: judges: type Verdict: only package desync judges who was wrong",
		"server/a.go:2: judges: type verdict: only package desync judges who was wrong")
	if judges != 3 {
		t.Errorf("got %d judges, want 3", judges)
	}
}
