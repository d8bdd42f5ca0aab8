package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// scan looks for what a node breaks, and for what it refers to.
func (p *program) scan(n *node) {
	if fn, ok := n.object.(*types.Func); ok && len(n.bodies) == 0 {
		n.issues = append(n.issues, issue{rule: "unseen", pos: fn.Pos(), end: fn.Pos(), what: fn.Name() + " is not written in Go"})
	}
	for _, body := range n.bodies {
		ast.Inspect(body, func(at ast.Node) bool {
			switch at.(type) {
			case nil:
				return false
			case *ast.CommentGroup, *ast.Comment:
				return false
			}
			p.visit(n, at)
			return true
		})
	}
}

func (p *program) visit(n *node, at ast.Node) {
	if e, ok := at.(ast.Expr); ok {
		p.float(n, e)
	}
	switch at := at.(type) {
	case *ast.GoStmt:
		n.report("goroutine", at, "a goroutine is started")
	case *ast.SelectStmt:
		n.report("select", at, "a select")
	case *ast.SendStmt:
		n.report("channel", at, "a send to a channel")
	case *ast.UnaryExpr:
		if at.Op == token.ARROW {
			n.report("channel", at, "a receive from a channel")
		}
	case *ast.RangeStmt:
		p.rangeOver(n, at)
	case *ast.Ident:
		p.use(n, at)
	case *ast.CallExpr:
		p.call(n, at)
	case *ast.BinaryExpr:
		p.binary(n, at)
	case *ast.AssignStmt:
		p.assign(n, at)
	}
	if s, ok := at.(ast.Stmt); ok {
		p.evaluation(n, s)
	}
	p.globalWrite(n, at)
}

// isFloat reports whether a type is a float or complex number.
func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

// float looks for values of floating point. Constants that end as integers are exact, and the same everywhere.
func (p *program) float(n *node, e ast.Expr) {
	tv, ok := p.TypesInfo.Types[e]
	if !ok {
		if id, isID := e.(*ast.Ident); isID && p.TypesInfo.Defs[id] != nil {
			if v, isVar := p.TypesInfo.Defs[id].(*types.Var); isVar && isFloat(v.Type()) {
				n.report("float", e, id.Name+" is a "+v.Type().String())
			}
		}
		return
	}
	if tv.Type == nil || !tv.IsValue() {
		return
	}
	if tuple, ok := tv.Type.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			if isFloat(v.Type()) {
				n.report("float", e, types.ExprString(e)+" gives a "+v.Type().String())
				return
			}
		}
		return
	}
	if isFloat(tv.Type) && (tv.Value == nil || !isUntyped(tv.Type)) {
		n.report("float", e, types.ExprString(e)+" is a "+tv.Type.String())
	}
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

// rangeOver looks at what a loop ranges over.
func (p *program) rangeOver(n *node, loop *ast.RangeStmt) {
	t := p.TypesInfo.TypeOf(loop.X)
	if t == nil {
		return
	}
	switch {
	case isCore[*types.Map](t):
		p.mapLoop(n, loop)
	case isCore[*types.Chan](t):
		n.report("channel", loop.X, "a loop over a channel")
	case p.isIterator(loop.X):
		p.mapLoop(n, loop)
	}
}

// isCore reports whether a type, or one that a type parameter can stand for, is of a kind.
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

// use looks at a name: what it refers to is reached, too.
func (p *program) use(n *node, id *ast.Ident) {
	object := p.TypesInfo.Uses[id]
	if object == nil || object.Pkg() == nil {
		return
	}
	p.instance(n, id)
	switch o := object.(type) {
	case *types.Func:
		o = o.Origin()
		if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			p.dynamic(n, id, o, recv.Type())
			return
		}
		p.refer(n, id, o)
	case *types.Var:
		if o.Parent() == o.Pkg().Scope() { // of the package
			p.refer(n, id, o)
			p.globalRead(n, id, o)
		} else if o.IsField() {
			p.functionField(n, id, o)
		}
	case *types.Const, *types.TypeName:
		if isStandard(o.Pkg().Path()) {
			p.standard(n, id, o)
		}
	}
}

// refer notes that a node refers to a function or variable.
func (p *program) refer(n *node, id *ast.Ident, o types.Object) {
	switch {
	case o.Pkg() == p.Pkg:
		if to := p.objects[o]; to != nil {
			n.refs = append(n.refs, to)
		}
	case isStandard(o.Pkg().Path()):
		p.standard(n, id, o)
	default:
		for _, c := range p.imported(o) {
			what := o.Pkg().Name() + "." + o.Name() + " leads to " + c.Origin
			n.issues = append(n.issues, issue{rule: c.Rule, pos: id.Pos(), end: id.End(), what: what, origin: c.Origin})
		}
	}
}

// call looks at a call.
func (p *program) call(n *node, call *ast.CallExpr) {
	p.printed(n, call)
	p.sorted(n, call)
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := p.TypesInfo.Uses[id].(*types.Builtin); ok {
			t := p.TypesInfo.TypeOf(call)
			if b.Name() == "close" || b.Name() == "make" && t != nil && isCore[*types.Chan](t) {
				n.report("channel", call, b.Name()+" of a channel")
			}
		}
	}
}
