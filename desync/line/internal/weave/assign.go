package weave

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// assignment gives probes to an assignment.
func (f *file) assignment(s *ast.AssignStmt) {
	for _, e := range s.Lhs {
		f.exprs(e)
	}
	if f.calls(s) {
		f.mark(Call, s, f.textOf(s))
	}
	for i, e := range s.Lhs {
		var value ast.Expr
		if len(s.Lhs) == len(s.Rhs) {
			value = s.Rhs[i]
		}
		if s.Tok == token.DEFINE {
			f.defined(s, e, value)
		} else {
			f.target(s, e, value)
		}
	}
	if len(s.Rhs) == 1 {
		f.whole, f.behind, f.assigned = ast.Unparen(s.Rhs[0]), s.End(), ""
		if len(s.Lhs) == 1 {
			f.assigned = f.textOf(s.Lhs[0])
		}
	}
	f.exprs(s.Rhs...)
}

// defined notes the value of a variable that a statement defines.
func (f *file) defined(s ast.Stmt, e, value ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	n := f.site(Define, s, f.textOf(s))
	f.last().Name, f.last().Local = id.Name, true
	call := "D"
	if value != nil {
		f.reading(value)
		if _, part := ast.Unparen(value).(*ast.SliceExpr); part {
			call = "L"
		}
	}
	f.insert(s.End(), after, "; if %s.On { %s.%s(%d, %s) }", probeName, probeName, call, n, id.Name)
}

// target notes the value of an assigned variable or field, before and after. Where reading it once more could do something, it
// notes only that the assignment is reached.
func (f *file) target(s ast.Stmt, e, value ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	if moves(s, e) {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	if !f.pure(e) {
		f.viaPointer(s, e)
		return
	}
	n := f.site(Write, s, f.textOf(s))
	f.last().Name, f.last().Local = fieldName(e), f.local(e)
	if value != nil {
		f.reading(value)
	}
	owner := f.owner(e)
	if owner == "" {
		owner = noOwner
	}
	call := "W"
	if !f.risky(e, s) {
		call = "R"
		f.insert(s.Pos(), before, "if %s.On { %s.B(%s) }; ", probeName, probeName, f.code(e))
	}
	f.insert(s.End(), after, "; if %s.On { %s.%s(%d, %s, %s) }", probeName, probeName, call, n, f.code(e), owner)
}

// moves reports whether an assigned expression may name another variable after the statement, because the statement assigns
// more than one, and one of the others is in it: i, list[i] = 2, 9.
func moves(s ast.Stmt, e ast.Expr) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) == 1 {
		return false
	}
	last := lastName(e)
	for n := range ast.Preorder(e) {
		if id, ok := n.(*ast.Ident); ok && id != last && slices.ContainsFunc(a.Lhs, func(l ast.Expr) bool { return fieldName(l) == id.Name }) {
			return true
		}
	}
	return false
}

// risky reports whether reading an assigned expression before the statement could panic where the statement does not: it has
// an index or a pointer that a call in the statement may set.
func (f *file) risky(e ast.Expr, s ast.Stmt) bool {
	if !f.calls(s) {
		return false
	}
	for n := range ast.Preorder(e) {
		switch n := n.(type) {
		case *ast.IndexExpr, *ast.StarExpr:
			return true
		case *ast.SelectorExpr:
			if sel := f.info.Selections[n]; sel != nil && sel.Indirect() {
				if _, recv := ast.Unparen(n.X).(*ast.Ident); !recv {
					return true
				}
			}
		}
	}
	return false
}

// viaPointer notes the new value of a field that a call leads to, such as w.player(p).Kills++: the call stays the only
// one, and its result is kept in a variable.
func (f *file) viaPointer(s ast.Stmt, e ast.Expr) {
	inner, isSelector := e.(*ast.SelectorExpr)
	if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) != 1 || !isSelector {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	p, ok := f.info.TypeOf(inner.X).Underlying().(*types.Pointer)
	call, isCall := inner.X.(*ast.CallExpr)
	if !ok || !isCall {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	n := f.site(Write, s, f.textOf(s))
	f.last().Name = inner.Sel.Name
	const name = "samestepOwner"
	owner := noOwner
	if hasID(p.Elem()) {
		owner = name
	}
	field := name + "." + inner.Sel.Name
	// The old value is read after the call, which is the only thing that may change it.
	f.insert(s.Pos(), before, "{ %s := ", name)
	f.insert(call.End(), closing, "; if %s.On { %s.B(%s) }; %s", probeName, probeName, field, name)
	f.insert(s.End(), after, "; if %s.On { %s.R(%d, %s, %s) } }", probeName, probeName, n, field, owner)
}

// declaration gives probes to a var statement.
func (f *file) declaration(s *ast.DeclStmt) {
	g, ok := s.Decl.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR {
		return
	}
	if f.calls(s) {
		f.mark(Call, s, f.textOf(s))
	}
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, id := range v.Names {
			if id.Name == "_" || len(v.Values) == 0 {
				continue
			}
			n := f.site(Define, id, fmt.Sprintf("var %s", f.textOf(v)))
			f.last().Name, f.last().Local = id.Name, true
			if len(v.Values) == len(v.Names) {
				f.reading(v.Values[i])
			}
			f.insert(s.End(), after, "; if %s.On { %s.D(%d, %s) }", probeName, probeName, n, id.Name)
		}
		f.exprs(v.Values...)
	}
}
