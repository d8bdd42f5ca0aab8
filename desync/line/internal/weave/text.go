package weave

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// The order of insertions at one place.
const (
	closing = iota // of an expression that ends here
	after          // a statement that ends here
	before         // a statement that begins here
	opening        // of an expression that begins here
)

// An insertion is a text to insert.
type insertion struct {
	at    int // bytes from the start of the file
	order int
	text  string
}

// inserted returns a file with insertions. They have no line ends, so every line keeps its number.
func inserted(src []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var out []byte
	done := 0
	for _, i := range all {
		out = append(append(out, src[done:i.at]...), i.text...)
		done = i.at
	}
	return append(out, src[done:]...)
}

// textOf returns the source of a node, on one line and with one space where there are more.
func (f *file) textOf(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.src[f.offset(n.Pos()):f.offset(n.End())])), " ")
}

// code returns the source of an expression to be written once more, or "" if it is not on one line.
func (f *file) code(e ast.Expr) string {
	text := string(f.src[f.offset(e.Pos()):f.offset(e.End())])
	if strings.ContainsAny(text, "\r\n") {
		return ""
	}
	return text
}

func (f *file) offset(p token.Pos) int { return f.tok.Offset(p) }

// sourceLine returns a line of the file, without the space at its ends.
func (f *file) sourceLine(line int) string {
	lines := strings.Split(string(f.src), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// pure reports whether an expression can be evaluated once more: it calls nothing and receives nothing.
func (f *file) pure(e ast.Expr) bool {
	pure := f.code(e) != ""
	for n := range ast.Preorder(e) {
		switch n := n.(type) {
		case *ast.CallExpr:
			pure = pure && f.info.Types[n.Fun].IsType()
		case *ast.FuncLit:
			pure = false
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		}
	}
	return pure
}

// calls reports whether a node calls a function, other than a builtin and in a function literal.
func (f *file) calls(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if t := f.info.Types[c.Fun]; !t.IsType() && !t.IsBuiltin() {
				found = true
			}
		}
		_, literal := n.(*ast.FuncLit)
		return !found && !literal
	})
	return found
}

// callsIn reports whether one of several expressions calls a function or receives. An expression before it gets no probe: that
// would be a call, and calls come in order, while the compiler reads a variable after the calls that follow it.
func (f *file) callsIn(list []ast.Expr) bool {
	return slices.ContainsFunc(list, func(e ast.Expr) bool {
		receives := false
		for n := range ast.Preorder(e) {
			u, ok := n.(*ast.UnaryExpr)
			receives = receives || ok && u.Op == token.ARROW
		}
		return receives || f.calls(e)
	})
}

// typed reports whether an expression has the same type inside a call of a generic function: it is no constant, and its type
// does not come from the place where it stands.
func (f *file) typed(e ast.Expr) bool {
	tv, ok := f.info.Types[e]
	if !ok || tv.Value != nil || tv.IsNil() || !tv.IsValue() || tv.Type == nil {
		return false
	}
	switch tv.Type.Underlying().(type) {
	case *types.Tuple, *types.Signature: // several values; a function, whose type may come from its place
		return false
	}
	return !f.adapts(e) || types.Identical(tv.Type, types.Typ[types.Bool]) || types.Identical(tv.Type, types.Typ[types.UntypedBool]) || types.Identical(tv.Type, types.Typ[types.Int])
}

// adapts reports whether the type of an expression comes from its place: a comparison, or a shift of a constant.
func (f *file) adapts(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		case token.SHL, token.SHR:
			return f.adapts(e.X)
		}
		return f.adapts(e.X) && f.adapts(e.Y)
	case *ast.UnaryExpr:
		return f.adapts(e.X)
	}
	tv := f.info.Types[e]
	return tv.Value != nil
}

// reading notes what the latest site reads.
func (f *file) reading(n ast.Node) {
	s := f.last()
	for n := range ast.Preorder(n) {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		o := f.info.Uses[id]
		if o == nil || o.Pkg() == nil {
			continue
		}
		if v, ok := o.(*types.Var); ok && !slices.Contains(s.Reads, v.Name()) {
			s.Reads = append(s.Reads, v.Name())
		}
		if name := declName(o); o.Parent() == o.Pkg().Scope() && f.source.Decls[name] != (Decl{}) && !slices.Contains(s.Uses, name) {
			s.Uses = append(s.Uses, name)
		}
	}
}

// declName is the name of a constant or variable of a package in Source.Decls.
func declName(o types.Object) string { return o.Pkg().Path() + "." + o.Name() }

// owner returns the element that an assigned expression is a field of, as an expression: an address, or "" without one.
func (f *file) owner(e ast.Expr) string {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			t := f.info.TypeOf(x.X)
			if t == nil {
				return ""
			}
			if p, ok := t.Underlying().(*types.Pointer); ok {
				if hasID(p.Elem()) {
					return f.code(x.X)
				}
			} else if hasID(t) && f.addressable(x.X) {
				return "&" + f.code(x.X)
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			if t := f.info.TypeOf(x); t != nil && hasID(t) {
				return f.code(x.X)
			}
			return ""
		default:
			return ""
		}
	}
}

// index returns the last index in an expression, or "" without one.
func (f *file) index(e ast.Expr) string {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			return f.code(x.Index)
		default:
			return ""
		}
	}
}

func (f *file) addressable(e ast.Expr) bool { return f.info.Types[e].Addressable() }

// hasID reports whether a type is a struct with an integer field ID.
func hasID(t types.Type) bool {
	u, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range u.Fields() {
		if b, ok := v.Type().Underlying().(*types.Basic); ok && strings.EqualFold(v.Name(), "ID") && b.Info()&types.IsInteger != 0 {
			return true
		}
	}
	return false
}
