package archtest

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// An impurity is a finding with the function that it lies in.
type impurity struct {
	finding
	within string
}

// unstable are the sorts that leave the order of equal elements open.
var unstable = []string{"sort.Slice", "sort.Sort", "slices.SortFunc", "slices.SortedFunc"}

// An inspection looks through one type-checked file.
type inspection struct {
	fset   *token.FileSet
	info   *types.Info
	file   *file
	within string
	found  []impurity
}

// impurities returns what breaks the rules, one finding for each line and rule,
// in order.
func (p *program) impurities() []impurity {
	var found []impurity
	for _, f := range p.files {
		in := inspection{fset: p.fset, info: p.info, file: f}
		in.imports()
		for _, d := range f.ast.Decls {
			in.within = ""
			if fn, ok := d.(*ast.FuncDecl); ok {
				in.within = fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if n != nil {
					in.node(n)
				}
				return true
			})
		}
		found = append(found, in.found...)
	}
	slices.SortStableFunc(found, func(a, b impurity) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.rule, b.rule))
	})
	return slices.CompactFunc(found, func(a, b impurity) bool { return a.file == b.file && a.line == b.line && a.rule == b.rule })
}

func (in *inspection) add(n ast.Node, rule, text string) {
	in.found = append(in.found, impurity{finding{in.file.name, in.fset.Position(n.Pos()).Line, rule, text}, in.within})
}

func (in *inspection) imports() {
	for _, spec := range in.file.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") && !slices.Contains(pureImports, name) {
			in.add(spec, "import "+name, "a deterministic package must not use it")
		}
	}
}

// node looks at one node, not at what is inside it.
func (in *inspection) node(n ast.Node) {
	if e, ok := n.(ast.Expr); ok {
		in.expr(e)
	}
	switch n := n.(type) {
	case *ast.RangeStmt:
		in.rangeOver(n)
	case *ast.GoStmt:
		in.add(n, "goroutine", "the order of goroutines is open")
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		in.add(n, "channel", "the order of what comes through is open")
	}
}

func (in *inspection) rangeOver(n *ast.RangeStmt) {
	t := in.info.TypeOf(n.X)
	switch {
	case t == nil || t == types.Typ[types.Invalid]:
		in.add(n, "unknown type", "what this ranges over could not be found out")
	case hasType(t, func(t types.Type) bool { _, ok := t.(*types.Map); return ok }):
		in.add(n, "map range", "the order of a map differs between runs")
	case hasType(t, func(t types.Type) bool { _, ok := t.(*types.Chan); return ok }):
		in.add(n, "channel", "the order of what comes through is open")
	}
}

func (in *inspection) expr(e ast.Expr) {
	if t := in.info.TypeOf(e); t != nil && hasType(t, isFloat) {
		in.add(e, "float", "results of floating point differ between machines")
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.FLOAT || e.Kind == token.IMAG {
			in.add(e, "float", "a floating-point literal")
		}
		in.literal(e)
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			in.add(e, "channel", "the order of what comes through is open")
		}
	case *ast.SelectorExpr:
		in.selector(e)
	}
}

// literal looks for verbs that print addresses.
func (in *inspection) literal(e *ast.BasicLit) {
	if v := in.info.Types[e].Value; v != nil && v.Kind() == constant.String && strings.Contains(constant.StringVal(v), "%p") {
		in.add(e, "address", "an address differs between runs")
	}
}

// selector looks at the use of another package's names, and of methods.
func (in *inspection) selector(e *ast.SelectorExpr) {
	obj := in.info.Uses[e.Sel]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	name := obj.Pkg().Path() + "." + obj.Name()
	_, isConst := obj.(*types.Const)
	switch {
	case obj.Pkg().Path() == "math" && !isConst:
		in.add(e, "math", name+": the functions of math differ between machines")
	case slices.Contains(unstable, name):
		in.add(e, "unstable sort", name+" leaves the order of equal elements open")
	case name == "reflect.MapKeys" || name == "reflect.MapRange":
		in.add(e, "map range", "the order of a map differs between runs")
	}
}

// isFloat reports whether an underlying type is a float or complex number.
func isFloat(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

// hasType reports whether is holds for what underlies t: for one of the types
// that it can stand for, if t is a type parameter or a constraint; for one of its
// values, if t is that of a call with several.
func hasType(t types.Type, is func(types.Type) bool) bool {
	switch u := t.Underlying().(type) {
	case *types.Tuple:
		for v := range u.Variables() {
			if hasType(v.Type(), is) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if hasType(term.Type(), is) {
				return true
			}
		}
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if hasType(e, is) {
				return true
			}
		}
	default:
		return is(u)
	}
	return false
}
