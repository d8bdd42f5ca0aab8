package house

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A limit is a row of docs/limits.md, with the value that the page says.
var limitRow = regexp.MustCompile("(?m)^\\| `(\\w+)\\.(\\w+)` \\| ([^|]+) \\|")

// limitFindings compares the rows of a page with the constants in the code, and
// the constants of every file limits.go with the page.
func (t *tree) limitFindings(page string) []finding {
	var found []finding
	told := map[string]bool{}
	for _, m := range limitRow.FindAllStringSubmatch(page, -1) {
		name := m[1] + "." + m[2]
		told[name] = true
		got, ok := t.constant(m[1], m[2])
		want := valueText(strings.TrimSpace(m[3]))
		switch {
		case !ok:
			found = append(found, finding{"docs/limits.md", 0, "limits", name + " is no constant"})
		case got != want:
			found = append(found, finding{"docs/limits.md", 0, "limits", fmt.Sprintf("%s: got %s, the code has %s", name, m[3], got)})
		}
	}
	for _, p := range t.pkgs {
		for _, f := range p.files {
			if path.Base(f.name) != "limits.go" {
				continue
			}
			for _, s := range constants(f.ast) {
				if name := f.ast.Name.Name + "." + s.Names[0].Name; !told[name] {
					found = append(found, finding{f.name, t.line(s.Pos()), "limits", name + " is not in docs/limits.md"})
				}
			}
		}
	}
	return found
}

// valueText returns a value of the page as a number: "8 MiB" is 8388608.
func valueText(s string) string {
	number, unit, _ := strings.Cut(s, " ")
	v := constant.MakeFromLiteral(strings.ReplaceAll(number, ",", ""), token.INT, 0)
	for _, u := range []string{"KiB", "MiB", "GiB"} {
		v = constant.BinaryOp(v, token.MUL, constant.MakeInt64(1024))
		if unit == u {
			return v.ExactString()
		}
	}
	return strings.ReplaceAll(s, ",", "")
}

// constants returns the constants that a file declares at its top.
func constants(f *ast.File) []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, s := range g.Specs {
				if s := s.(*ast.ValueSpec); len(s.Names) == 1 && len(s.Values) == 1 {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// constant returns the value of a constant of a package, which its last folder
// or its name tells.
func (t *tree) constant(pkg, name string) (string, bool) {
	for _, p := range t.pkgs {
		if path.Base(p.path) != pkg {
			continue
		}
		for _, f := range p.files {
			for _, s := range constants(f.ast) {
				if !f.test && s.Names[0].Name == name {
					v := t.value(p, s.Values[0])
					return v.ExactString(), v.Kind() == constant.Int
				}
			}
		}
	}
	return "", false
}

// value computes an integer from literals, operators and other constants.
func (t *tree) value(p *pkg, e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return t.value(p, e.X)
	case *ast.Ident:
		if v, ok := t.constant(path.Base(p.path), e.Name); ok {
			return constant.MakeFromLiteral(v, token.INT, 0)
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if v, ok := t.constant(x.Name, e.Sel.Name); ok {
				return constant.MakeFromLiteral(v, token.INT, 0)
			}
		}
	case *ast.BinaryExpr:
		x, y := t.value(p, e.X), t.value(p, e.Y)
		if x.Kind() != constant.Int || y.Kind() != constant.Int {
			break
		}
		if e.Op == token.SHL || e.Op == token.SHR {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return constant.MakeUnknown()
}

func TestLimits(t *testing.T) {
	tr := ours(t)
	page, err := os.ReadFile(filepath.Join(tr.dir, "docs/limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(limitRow.FindAllString(string(page), -1)) == 0 {
		t.Fatal("no limits on the page")
	}
	report(t, tr.limitFindings(string(page)))
}

func TestLimitsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/limits.go": "package a\nconst (\n\tright = 8 << 20\n\twrong = right - 1<<20\n\tuntold = 3\n)\n",
		"b/b.go":      "package b\nconst Max = 3 * (1000 + 1)\n",
	})
	expect(t, tr.limitFindings("| `a.right` | 8 MiB | x | y |\n| `a.wrong` | 8 MiB | x | y |\n| `a.gone` | 1 | x | y |\n| `b.Max` | 3,003 | x | y |\n"),
		"docs/limits.md:0: limits: a.wrong: got 8 MiB, the code has 7340032",
		"docs/limits.md:0: limits: a.gone is no constant",
		"a/limits.go:5: limits: a.untold is not in docs/limits.md",
	)
}
