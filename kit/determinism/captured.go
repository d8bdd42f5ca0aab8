package determinism

import (
	"go/ast"
	"go/types"
)

// findCaptured finds data that the functions of a game keep outside of the state and of package variables: in variables
// of the enclosing function, and in receivers of method values.
func (p *program) findCaptured() {
	for _, g := range p.given {
		p.captured(g.node, g.value, map[*types.Func]bool{})
	}
}

// captured examines an expression of a function that outlives the call that makes it.
func (p *program) captured(n *node, e ast.Expr, seen map[*types.Func]bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		p.capturedBy(n, e)
	case *ast.Ident:
		if lit := p.locals.vars[p.variable(e)]; lit != nil {
			p.capturedBy(n, lit)
		}
	case *ast.SelectorExpr:
		p.boundTo(n, e)
	case *ast.CallExpr: // makes the function, perhaps around others
		for _, arg := range e.Args {
			if isCore[*types.Signature](p.typeOf(arg)) {
				p.captured(n, arg, seen)
			}
		}
		if fn := p.namedFunc(e.Fun); fn != nil && !seen[fn] && p.objects[fn] != nil {
			seen[fn] = true
			p.capturedByMade(p.objects[fn], seen)
		}
	}
}

// capturedByMade examines the functions that a function returns.
func (p *program) capturedByMade(n *node, seen map[*types.Func]bool) {
	for _, body := range n.bodies {
		ast.Inspect(body, func(at ast.Node) bool {
			switch at := at.(type) {
			case *ast.FuncLit:
				return false // what it returns is another function's
			case *ast.ReturnStmt:
				for _, e := range at.Results {
					p.captured(n, e, seen)
				}
			}
			return true
		})
	}
}

// capturedBy reports variables of enclosing functions that a literal changes.
func (p *program) capturedBy(n *node, lit *ast.FuncLit) {
	around := func(o types.Object) *types.Var {
		v, ok := o.(*types.Var)
		if !ok || v.IsField() || v.Pkg() != p.Pkg || v.Parent() == p.Pkg.Scope() || lit.Pos() <= v.Pos() && v.Pos() < lit.End() {
			return nil
		}
		return v
	}
	for at := range ast.Preorder(lit) {
		p.changes(at, around, func(v *types.Var, place ast.Node) {
			n.report("captured", place, "the captured variable "+v.Name()+" is changed")
		})
	}
}

// boundTo reports a method value whose method changes a field of its receiver.
func (p *program) boundTo(n *node, e *ast.SelectorExpr) {
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return
	}
	fn, _ := s.Obj().(*types.Func)
	m := p.objects[fn.Origin()]
	if m == nil || !byPointer(fn) {
		return
	}
	fields, ok := deref(fn.Origin().Signature().Recv().Type()).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for f := range fields.Fields() {
		at := place{v: f.Origin()}
		inside := place{f.Origin(), true}
		if m.writes[at] || m.writes[inside] || m.outer[at] || m.outer[inside] {
			n.report("captured", e, f.Name()+" of "+types.ExprString(e.X)+" is changed")
			return
		}
	}
}

// methodValue gives the variable to which a method that may change it is bound, for a later call.
func (p *program) methodValue(e *ast.SelectorExpr, give func(ast.Expr)) {
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.MethodVal || !types.Identical(s.Type(), p.typeOf(e)) {
		return
	}
	if call, ok := p.parents[e].(*ast.CallExpr); ok && call.Fun == ast.Expr(e) {
		return
	}
	fn, _ := s.Obj().(*types.Func)
	if byPointer(fn) && fn.Pkg() != nil && fn.Pkg().Path() != "sync" && !p.isPureFunc(fn.Origin()) {
		give(e.X)
	}
}
