package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// pure requires that evaluating n changes nothing.
func (l *loop) pure(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			l.fail(n)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				l.fail(n)
			}
		case *ast.CallExpr:
			if !l.isPureCall(n) {
				l.fail(n)
			}
		}
		return l.bad == nil
	})
}

func (l *loop) pureExpr(e ast.Expr) {
	if e != nil {
		l.pure(e)
	}
}

// change notes a change of a variable by the loop.
func (l *loop) change(at ast.Stmt, target ast.Expr, how changed) {
	if l.isLocal(target) {
		return
	}
	v := l.placeOf(target)
	if v == nil || (how.kind == changeSum && !l.isInteger(target)) {
		l.fail(at)
		return
	}
	if before, ok := l.changes[v]; ok && before != how {
		l.fail(at)
		return
	}
	l.changes[v] = how
}

// placeOf returns the variable or field that an expression changes.
func (p *program) placeOf(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := p.TypesInfo.ObjectOf(e).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := p.TypesInfo.Uses[e.Sel].(*types.Var)
		return v
	case *ast.IndexExpr:
		return p.placeOf(e.X)
	case *ast.SliceExpr:
		return p.placeOf(e.X)
	case *ast.StarExpr:
		return p.placeOf(e.X)
	}
	return nil
}

// readsChanged requires that nothing in the loop reads a changed variable, except for the change itself.
func (l *loop) readsChanged() {
	for n := range ast.Preorder(l.stmt.Body) {
		id, _ := n.(*ast.Ident)
		v, _ := l.TypesInfo.Uses[id].(*types.Var)
		if how, ok := l.changes[v]; ok && !l.isChange(id, v, how) {
			l.fail(id)
		}
	}
}

// isChange reports whether the name of a changed variable belongs to its change.
func (l *loop) isChange(id *ast.Ident, v *types.Var, how changed) bool {
	for at := ast.Node(id); at != ast.Node(l.stmt.Body); at = l.parents[at] {
		switch s := at.(type) {
		case *ast.IndexExpr:
			if how.kind == changeKeyed && l.placeOf(s.X) == v && l.isKey(s.Index) {
				return true
			}
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if s.Tok != token.DEFINE && l.placeOf(left) == v {
					return how.kind != changeSum || within(id, left)
				}
			}
		case *ast.IncDecStmt:
			return l.placeOf(s.X) == v
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && (l.builtin(call) == "delete" || l.builtin(call) == "clear") {
				return within(id, call.Args[0])
			}
			return false
		case *ast.IfStmt:
			if kind, _ := extreme(s); kind != 0 && kind == how.kind {
				return true
			}
		}
	}
	return false
}

// leaves examines loops that end early: all exits must be the same, whichever element takes them.
func (l *loop) leaves() {
	if len(l.changes) > 0 {
		for _, how := range l.changes {
			if how.kind != changeConst || len(l.changes) > 1 || len(l.exits) > 1 {
				l.fail(l.exits[0])
			}
		}
	}
	text := ""
	for i, s := range l.exits {
		exit := ""
		if r, ok := s.(*ast.ReturnStmt); ok {
			exit = "return"
			for _, e := range r.Results {
				exit += " " + types.ExprString(e)
				if l.usesInner(e) {
					l.fail(s)
				}
			}
		}
		if i > 0 && exit != text {
			l.fail(s)
		}
		text = exit
	}
}

// usesInner reports whether an expression uses a variable that the loop declares.
func (l *loop) usesInner(e ast.Expr) bool {
	return contains(e, func(n ast.Node) bool {
		id, _ := n.(*ast.Ident)
		v, ok := l.TypesInfo.Uses[id].(*types.Var)
		return ok && !v.IsField() && l.declares(v)
	})
}

// declares reports whether a variable lives no longer than one iteration.
func (l *loop) declares(o types.Object) bool {
	return l.stmt.Pos() <= o.Pos() && o.Pos() < l.stmt.Body.End()
}

// isLocal reports whether an assignment changes only variables that live no longer than one iteration.
func (l *loop) isLocal(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := l.TypesInfo.ObjectOf(e)
		return o != nil && l.declares(o)
	case *ast.SelectorExpr:
		return !is[*types.Pointer](l.typeOf(e.X)) && l.isLocal(e.X)
	case *ast.IndexExpr:
		return is[*types.Array](l.typeOf(e.X)) && l.isLocal(e.X)
	}
	return false
}

// sortsElement reports whether a call sorts the loop's value, or an element at the loop's key: each is sorted once, so
// the order does not matter.
func (l *loop) sortsElement(s *ast.ExprStmt, call *ast.CallExpr) bool {
	if len(call.Args) == 0 || !l.sorts(call, types.ExprString(call.Args[0])) {
		return false
	}
	for _, e := range call.Args[1:] {
		l.pure(e)
	}
	switch list := ast.Unparen(call.Args[0]).(type) {
	case *ast.Ident:
		v, ok := l.TypesInfo.ObjectOf(list).(*types.Var)
		return ok && types.Object(v) == l.value && len(l.values()[v]) == 1
	case *ast.IndexExpr:
		if l.isKey(list.Index) {
			l.pure(list.X)
			l.change(s, list.X, changed{changeKeyed, ""})
			return true
		}
	}
	return false
}

// isKey reports whether an expression is the loop's key, which is different in each iteration.
func (l *loop) isKey(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && l.key != nil && l.TypesInfo.ObjectOf(id) == l.key
}

func (l *loop) isInteger(e ast.Expr) bool { return isKind(l.typeOf(e), types.IsInteger) }

// isAppend reports whether a statement is "x = append(x, …)".
func (l *loop) isAppend(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return false
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	return ok && l.builtin(call) == "append" && types.ExprString(call.Args[0]) == types.ExprString(s.Lhs[0])
}
