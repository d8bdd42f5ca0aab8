package archtest

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
)

// A limit is two cells of a table: the name of a constant, or of an option with a
// default, and the value. The value of a default that is computed is given in words.
var limitRow = regexp.MustCompile("\\| `(\\w+)\\.((?:\\w+\\.)?\\w+)` \\| ([^|]+) \\|")

// limitName is a limit that a specification names.
var limitName = regexp.MustCompile("`([a-z]+\\.[A-Za-z]\\w*)`")

// limitPages are the pages that have limits.
var limitPages = []string{"docs/limits.md", "docs/threat-model.md"}

// limitFindings compares the rows of pages with the code. The constants of every
// file limits.go, and the rates of every Rates, need a row; in a file that a page names as
// a whole they need a comment. A limit in a table of a specification stands in no other.
func (t *tree) limitFindings(pages map[string]string) []finding {
	var found []finding
	told := map[string]string{}
	spec := func(page string) bool { return path.Dir(page) == "docs/spec" }
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range limitRow.FindAllStringSubmatch(pages[page], -1) {
			name := m[1] + "." + m[2]
			words := !strings.ContainsAny(m[3][:1], "0123456789")
			if spec(page) && words {
				continue // a field of the page
			}
			if other, ok := told[name]; ok && (spec(page) || spec(other)) {
				found = append(found, finding{page, 0, "limits", name + " stands in " + other + ", too"})
			}
			told[name] = page
			got, ok := t.limit(m[1], m[2])
			switch {
			case !ok && words && strings.Contains(m[2], "."):
			case !ok:
				found = append(found, finding{page, 0, "limits", name + " is no constant, and no option with a default"})
			case got != valueText(m[3]):
				found = append(found, finding{page, 0, "limits", fmt.Sprintf("%s: got %s, the code has %s", name, m[3], got)})
			}
		}
	}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range limitName.FindAllStringSubmatch(pages[page], -1) {
			pkg, name, _ := strings.Cut(m[1], ".")
			if _, ok := t.constant(pkg, name); (ok || strings.Contains(strings.ToLower(name), "max")) && spec(page) && told[m[1]] == "" {
				found = append(found, finding{page, 0, "limits", m[1] + " is in no table of limits"})
			}
		}
	}
	all := strings.Join(slices.Collect(maps.Values(pages)), "")
	for _, p := range t.pkgs {
		for _, f := range p.files {
			if path.Base(f.name) != "limits.go" {
				continue
			}
			for _, s := range constants(f.ast) {
				if strings.Contains(all, "`"+f.name+"`") {
					if s.Comment == nil && s.Doc == nil {
						found = append(found, finding{p.path, 0, "limits", s.Names[0].Name + ": " + f.name + " has no comment that says what it bounds"})
					}
					continue
				}
				if name := f.ast.Name.Name + "." + s.Names[0].Name; told[name] == "" {
					found = append(found, finding{f.name, t.line(s.Pos()), "limits", name + " is in no table of limits"})
				}
			}
		}
		for _, name := range t.fields(p, "Rates") {
			if name := path.Base(p.path) + ".Rates." + name; told[name] == "" {
				found = append(found, finding{p.path, 0, "limits", name + " is in no table of budgets"})
			}
		}
	}
	return found
}

// formatLimits returns the limits that specifications name, which are part of version 1, as rows of [frozen.Check]. Those of a host are a
// server's choice.
func (t *tree) formatLimits(pages map[string]string) []string {
	rows := map[string]bool{}
	for page, text := range pages {
		if path.Dir(page) != "docs/spec" {
			continue
		}
		for _, m := range limitName.FindAllStringSubmatch(text, -1) {
			pkg, name, _ := strings.Cut(m[1], ".")
			if value, ok := t.constant(pkg, name); ok && pkg != "host" && pkg != "views" {
				rows["limit "+m[1]+": "+value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(rows))
}

// limit returns the value of a constant of a package, or the default of an option:
// "Rates.Chat" is what the function or gives to the field Chat of a type Rates.
func (t *tree) limit(pkg, name string) (string, bool) {
	typ, field, isOption := strings.Cut(name, ".")
	if !isOption {
		return t.constant(pkg, name)
	}
	for _, p := range t.pkgs {
		if path.Base(p.path) != pkg || !slices.Contains(t.fields(p, typ), field) {
			continue
		}
		if e := p.defaultOf(field); e != nil {
			return t.defaultText(p, e)
		}
	}
	return "", false
}

// fields returns the names of the fields of a package's struct, which may be an alias of another package's.
func (t *tree) fields(p *pkg, typ string) []string {
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && !f.test {
				for _, s := range g.Specs {
					s, ok := s.(*ast.TypeSpec)
					if !ok || s.Name.Name != typ {
						continue
					}
					if to, ok := s.Type.(*ast.SelectorExpr); ok {
						if at := slices.IndexFunc(t.pkgs, func(p *pkg) bool { return path.Base(p.path) == types.ExprString(to.X) }); at >= 0 {
							return t.fields(t.pkgs[at], to.Sel.Name)
						}
					}
					return members(s.Type)
				}
			}
		}
	}
	return nil
}

// defaultOf returns the default of a field: or(&o.Field, value), cmp.Or(o.Field, value), or option(_, _, &o.Field, value, low, high).
func (p *pkg) defaultOf(field string) (value ast.Expr) {
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			args := []ast.Expr(nil)
			if ok && !f.test {
				args = call.Args
			}
			switch {
			case len(args) == 2 && (types.ExprString(call.Fun) == "or" || types.ExprString(call.Fun) == "cmp.Or"):
			case len(args) == 6 && types.ExprString(call.Fun) == "option":
				args = args[2:4]
			default:
				return true
			}
			to := args[0]
			if a, ok := to.(*ast.UnaryExpr); ok {
				to = a.X
			}
			if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == field && types.ExprString(args[1]) != "0" {
				value = args[1]
			}
			return true
		})
	}
	return value
}

// defaultText returns an integer, or a rate: its number, span and burst.
func (t *tree) defaultText(p *pkg, e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		v := t.value(p, e)
		return v.ExactString(), v.Kind() == constant.Int
	}
	parts := make([]string, len(lit.Elts))
	for i, e := range lit.Elts {
		if named, ok := e.(*ast.KeyValueExpr); ok { // in the order of the fields
			e = named.Value
		}
		v := t.value(p, e)
		if parts[i] = v.ExactString(); v.Kind() != constant.Int {
			return "", false
		}
	}
	return strings.Join(parts, "/"), true
}

// rateText is how a page writes a rate.
var rateText = regexp.MustCompile(`^(.+) a (second|minute), (.+) at once$`)

// valueText returns a value of the page as a number: "8 MiB" is 8388608. A rate is
// its number, its span in microseconds, and its burst.
func valueText(s string) string {
	if m := rateText.FindStringSubmatch(s); m != nil {
		span := map[string]string{"second": "1000000", "minute": "60000000"}[m[2]]
		return valueText(m[1]) + "/" + span + "/" + valueText(m[3])
	}
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
	pages := map[string]string{}
	for _, name := range limitPages {
		page, err := os.ReadFile(filepath.Join(tr.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if pages[name] = string(page); !limitRow.MatchString(pages[name]) {
			t.Errorf("%s has no limits", name)
		}
	}
	specs, err := filepath.Glob(filepath.Join(tr.dir, "docs", "spec", "*.md"))
	if err != nil || len(specs) == 0 {
		t.Fatalf("got no specifications: %v", err)
	}
	for _, name := range specs {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages["docs/spec/"+filepath.Base(name)] = string(page)
	}
	report(t, tr.limitFindings(pages))
	frozen.Check(t, "../../../testdata/frozen/limits.txt", tr.formatLimits(pages))
}

func TestLimitsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/limits.go": "package a\nconst (\n\tright = 8 << 20\n\twrong = right - 1<<20\n\tuntold = 3\n\tspecified = 4\n\ttwice = 5\n)\n",
		"b/b.go":      "package b\nconst Max = 3 * (1000 + 1)\n",
		"d/limits.go": "package d\nconst told = 1 // bytes\nconst bare = 1\n",
		"c/c.go": `package c
const Second = 1000 * 1000
type Options struct { Size, Free int }
type Rates struct { Chat, Pings, Untold Rate }
func (o *Options) complete(r *Rates) {
	or(&o.Size, 1 << 10)
	o.Free = cmp.Or(o.Free, o.Size)
	or(&r.Chat, Rate{5, 60 * Second, 7})
	r.Pings = cmp.Or(r.Pings, Rate{64 << 10, Second, 128 << 10})
}
`,
	})
	named := map[string]string{"docs/spec/a.md": "`b.Max`, `c.Second` | 1 and `a.gone`", "a.md": "`a.right`"}
	if got, want := tr.formatLimits(named), []string{"limit b.Max: 3003", "limit c.Second: 1000000"}; !slices.Equal(got, want) {
		t.Errorf("limits of specifications: got %q, want %q", got, want)
	}
	expect(t, tr.limitFindings(map[string]string{
		"a.md":           "| `a.right` | 8 MiB | x | y |\n| `a.wrong` | 8 MiB | x | y |\n| `a.gone` | 1 | x | y |\n| `b.Max` | 3,003 | x | y |\n| `a.twice` | 5 | x | y |\n",
		"docs/spec/c.md": "at most `a.right`, `b.Max`, `c.Second`, `a.maxGone` and `a.other`\n| `a.specified` | 4 | x |\n| `a.twice` | 6 | x |\n| `a.field` | text | x |\n",
		"b.md": "`d/limits.go` | size | `c.Options.Size` | 2 KiB | x |\n| free | `c.Options.Free` | 1 | x |\n| size | `c.Options.Free` | as Size | x |\n| words | `c.Options.Size` | some | x |\n| gone | `c.Options.Chat` | 5 | x |\n" +
			"| chat | `c.Rates.Chat` | 5 a second, 7 at once | x |\n| pings | `c.Rates.Pings` | 64 KiB a second, 128 KiB at once | x |\n",
	}),
		"a.md:0: limits: a.wrong: got 8 MiB, the code has 7340032",
		"a.md:0: limits: a.gone is no constant",
		"b.md:0: limits: c.Options.Size: got 2 KiB, the code has 1024",
		"b.md:0: limits: c.Options.Free is no constant, and no option with a default",
		"b.md:0: limits: c.Options.Size: got some, the code has 1024",
		"b.md:0: limits: c.Options.Chat is no constant, and no option with a default",
		"b.md:0: limits: c.Rates.Chat: got 5 a second, 7 at once, the code has 5/60000000/7",
		"docs/spec/c.md:0: limits: a.twice stands in a.md, too",
		"docs/spec/c.md:0: limits: a.twice: got 6, the code has 5",
		"docs/spec/c.md:0: limits: c.Second is in no table of limits",
		"docs/spec/c.md:0: limits: a.maxGone is in no table of limits",
		"a/limits.go:5: limits: a.untold is in no table of limits",
		"c:0: limits: c.Rates.Untold is in no table of budgets",
		"d:0: limits: bare: d/limits.go has no comment that says what it bounds",
	)
}
