package determinism

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// typeOf returns the type of an expression. It is the invalid type if there is none.
func (p *program) typeOf(e ast.Expr) types.Type {
	if t := p.TypesInfo.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// constant returns the value of a constant expression, or nil.
func (p *program) constant(e ast.Expr) constant.Value { return p.TypesInfo.Types[e].Value }

// variable returns the variable whose name an expression is, or nil.
func (p *program) variable(e ast.Expr) *types.Var {
	id, _ := ast.Unparen(e).(*ast.Ident)
	v, _ := p.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// nameOf returns the name in a named expression such as f, x.f or f[int], or nil.
func nameOf(e ast.Expr) *ast.Ident {
	for {
		switch f := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = f.X
		case *ast.IndexListExpr:
			e = f.X
		case *ast.SelectorExpr:
			return f.Sel
		case *ast.Ident:
			return f
		default:
			return nil
		}
	}
}

// namedFunc returns the function that an expression names, or nil.
func (p *program) namedFunc(e ast.Expr) *types.Func {
	if fn, ok := p.TypesInfo.Uses[nameOf(e)].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// standardFunc returns the name of the function that an expression calls, if it is in the package at path, or "".
func (p *program) standardFunc(e ast.Node, path string) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if fn := p.namedFunc(call.Fun); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == path && fn.Signature().Recv() == nil {
			return fn.Name()
		}
	}
	return ""
}

// builtin returns the name of the builtin function that is called, or "".
func (p *program) builtin(call *ast.CallExpr) string {
	id, _ := ast.Unparen(call.Fun).(*ast.Ident)
	if b, ok := p.TypesInfo.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// isConversion reports whether a call is a conversion to a type.
func (p *program) isConversion(call *ast.CallExpr) bool { return p.TypesInfo.Types[call.Fun].IsType() }

// is reports whether the underlying type of t is a T.
func is[T types.Type](t types.Type) bool {
	_, ok := t.Underlying().(T)
	return ok
}

// isCore reports whether the underlying type of t, or of a type that the type parameter t can stand for, is a T.
func isCore[T types.Type](t types.Type) bool {
	switch u := t.Underlying().(type) {
	case T:
		return true
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if isCore[T](e) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if isCore[T](term.Type()) {
				return true
			}
		}
	}
	return false
}

// isKind reports whether a type is a basic type with one of the properties.
func isKind(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

const floats = types.IsFloat | types.IsComplex

// sortable reports whether slices.Sort takes a type, without floats.
func sortable(t types.Type) bool { return isKind(t, types.IsOrdered) && !isKind(t, types.IsFloat) }

func deref(t types.Type) types.Type {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		return ptr.Elem()
	}
	return t
}

// byPointer reports whether a function is a method with a pointer receiver.
func byPointer(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && is[*types.Pointer](recv.Type())
}

func isMethodOfInterface(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// isLocalVar reports whether a variable belongs to one function.
func isLocalVar(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// isPlain reports whether an expression consists of names only.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isPlain(e.X)
	}
	return false
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

// contains reports whether a test holds for a node of a tree.
func contains(tree ast.Node, test func(ast.Node) bool) bool {
	for n := range ast.Preorder(tree) {
		if test(n) {
			return true
		}
	}
	return false
}

// mentions reports whether an expression of this text is in a node.
func mentions(tree ast.Node, text string) bool {
	return contains(tree, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && types.ExprString(e) == text
	})
}

// shares reports whether a copy of a value may share memory with it.
func shares(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return shares(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if shares(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// isDerived reports whether an expression selects a field that is tagged as derived.
func (p *program) isDerived(e *ast.SelectorExpr) bool {
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.FieldVal {
		return false
	}
	t := s.Recv()
	for _, i := range s.Index() {
		u, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return false
		}
		if strings.Contains(u.Tag(i), `state:"derived"`) {
			return true
		}
		t = u.Field(i).Type()
	}
	return false
}
