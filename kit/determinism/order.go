package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Go calls functions from left to right, but does not define when a variable is read if a call of the same statement
// changes it: "w.gold + w.earn()" may use the gold from before or after the call. A read is ordered if it is in the
// arguments of an earlier call or of the call itself, or on the other side of && and ||.

// A read is a value that a statement reads.
type read struct {
	at     ast.Expr
	place  place
	within []place // values that it is a part of
}

// evaluation examines the expressions that one statement evaluates together.
func (p *program) evaluation(n *node, s ast.Stmt) {
	var values, targets []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		values = s.Rhs
		if s.Tok == token.ASSIGN {
			targets = s.Lhs
		} else if s.Tok != token.DEFINE {
			values = append([]ast.Expr{s.Lhs[0]}, s.Rhs...)
		}
	case *ast.ReturnStmt:
		values = s.Results
	case *ast.ExprStmt:
		values = []ast.Expr{s.X}
	case *ast.IncDecStmt:
		values = []ast.Expr{s.X}
	case *ast.IfStmt:
		values = []ast.Expr{s.Cond}
	case *ast.ForStmt:
		values = []ast.Expr{s.Cond}
	case *ast.SwitchStmt:
		values = []ast.Expr{s.Tag}
	case *ast.RangeStmt:
		values = []ast.Expr{s.X}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				p.together(n, spec.(*ast.ValueSpec).Values, nil)
			}
		}
	}
	p.together(n, values, targets)
}

// together compares the reads of expressions with the calls in them.
func (p *program) together(n *node, values, targets []ast.Expr) {
	var calls []*ast.CallExpr
	for _, e := range append(values[:len(values):len(values)], targets...) {
		if e != nil {
			calls = append(calls, p.callsIn(e)...)
		}
	}
	if len(calls) == 0 {
		return
	}
	var reads []read
	for _, e := range values {
		if e != nil {
			reads = append(reads, p.readsOf(e)...)
		}
	}
	for _, e := range targets {
		reads = append(reads, p.readsOfTarget(e)...)
	}
	for _, c := range calls {
		changes := p.effectsOf(c)
		for _, r := range reads {
			if r.clashes(changes) && !p.isOrdered(r.at, c, calls) {
				n.report("order", r.at, types.ExprString(r.at)+" is read in one statement with "+types.ExprString(c.Fun)+"(…), which changes it")
			}
		}
	}
}

// clashes reports whether a call changes the value of a read.
func (r read) clashes(by effects) bool {
	return by.writes[r.place] || by.outer[r.place] || slices.ContainsFunc(r.within, func(w place) bool { return by.writes[w] })
}

// callsIn returns the function calls in an expression, except for those in function literals.
func (p *source) callsIn(e ast.Expr) []*ast.CallExpr {
	var calls []*ast.CallExpr
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !p.isConversion(n) && p.builtin(n) == "" {
				calls = append(calls, n)
			}
		}
		return true
	})
	return calls
}

// readsOf returns the reads of evaluating an expression.
func (p *source) readsOf(e ast.Expr) []read {
	var reads []read
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				if v, ok := p.TypesInfo.Uses[key].(*types.Var); ok && v.IsField() { // the name of a field, not its value
					reads = append(reads, p.readsOf(n.Value)...)
					return false
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND { // an address reads only what leads to it
				reads = append(reads, p.readsOfTarget(n.X)...)
				return false
			}
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && p.takesAddress(sel) {
				reads = append(reads, p.readsOfTarget(sel.X)...)
				for _, arg := range n.Args {
					reads = append(reads, p.readsOf(arg)...)
				}
				return false
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.Ident:
			expr := n.(ast.Expr)
			if w, ok := p.placeAt(expr); ok && p.isValue(expr) {
				reads = append(reads, read{expr, w, slices.Collect(p.containers(expr))})
			}
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if !is[*types.Struct](p.typeOf(sel.X)) {
					reads = append(reads, p.readsOf(sel.X)...)
				} else {
					reads = append(reads, p.readsOfTarget(sel.X)...)
				}
				return false
			}
		}
		return true
	})
	return reads
}

// readsOfTarget returns the reads that locate an expression.
func (p *source) readsOfTarget(e ast.Expr) []read {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if is[*types.Struct](p.typeOf(e.X)) {
			return p.readsOfTarget(e.X)
		}
		return p.readsOf(e.X)
	case *ast.IndexExpr:
		reads := p.readsOf(e.Index)
		if t := p.typeOf(e.X); t != types.Typ[types.Invalid] && !isCore[*types.Array](t) {
			return append(reads, p.readsOf(e.X)...)
		}
		return append(reads, p.readsOfTarget(e.X)...)
	case *ast.StarExpr:
		return p.readsOf(e.X)
	case *ast.Ident:
		return nil
	default:
		return p.readsOf(e)
	}
}

// takesAddress reports whether a method is called on the address of its operand.
func (p *source) takesAddress(sel *ast.SelectorExpr) bool {
	s := p.TypesInfo.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return false
	}
	fn, ok := s.Obj().(*types.Func)
	return ok && byPointer(fn) && is[*types.Struct](p.typeOf(sel.X))
}

// isValue reports whether an expression is a variable value, not a type, package, function or constant.
func (p *source) isValue(e ast.Expr) bool {
	tv, ok := p.TypesInfo.Types[e]
	if !ok {
		if id, isID := e.(*ast.Ident); isID {
			_, isVar := p.TypesInfo.Uses[id].(*types.Var)
			return isVar
		}
		return false
	}
	return tv.IsValue() && tv.Value == nil
}

// isOrdered reports whether the language defines the order of a read and a call.
func (p *source) isOrdered(r ast.Expr, c *ast.CallExpr, calls []*ast.CallExpr) bool {
	if within(r, c) || within(c, r) {
		return true // one needs the other
	}
	for _, d := range calls {
		if within(r, d) && !within(c, d) && d.End() <= c.Pos() {
			return true // an earlier call needs it
		}
	}
	for at := ast.Node(c); at != nil; at = p.parents[at] {
		b, ok := p.parents[at].(*ast.BinaryExpr)
		if ok && (b.Op == token.LAND || b.Op == token.LOR) && within(r, b) && !within(r, at) {
			return true
		}
		if _, ok := at.(ast.Stmt); ok {
			break
		}
	}
	return false
}
