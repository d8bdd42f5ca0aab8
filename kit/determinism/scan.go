package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// scan finds the breaches and references of a node.
func (p *program) scan(n *node) {
	if fn, ok := n.object.(*types.Func); ok && len(n.bodies) == 0 {
		n.issues = append(n.issues, issue{rule: "unseen", pos: fn.Pos(), end: fn.Pos(), what: fn.Name() + " is not written in Go"})
	}
	visit := p.visit
	if _, ok := n.object.(*types.Const); ok {
		visit = p.visitConstant
	}
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			visit(n, at)
		}
	}
}

// visitConstant examines a part of a constant, which is exact, and the same everywhere but for the size of a word.
func (p *program) visitConstant(n *node, at ast.Node) {
	switch at := at.(type) {
	case *ast.UnaryExpr:
		p.complement(n, at)
	case *ast.Ident:
		if _, ok := p.TypesInfo.Uses[at].(*types.Const); ok {
			p.use(n, at)
		}
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
		p.complement(n, at)
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

// float finds floating-point values. Constants that end as integers are exact, and the same everywhere.
func (p *program) float(n *node, e ast.Expr) {
	tv, ok := p.TypesInfo.Types[e]
	if !ok {
		if id, isID := e.(*ast.Ident); isID && p.TypesInfo.Defs[id] != nil {
			if v, isVar := p.TypesInfo.Defs[id].(*types.Var); isVar && isKind(v.Type(), floats) {
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
			if isKind(v.Type(), floats) {
				n.report("float", e, types.ExprString(e)+" gives a "+v.Type().String())
				return
			}
		}
		return
	}
	if isKind(tv.Type, floats) && (tv.Value == nil || !isKind(tv.Type, types.IsUntyped)) {
		n.report("float", e, types.ExprString(e)+" is a "+tv.Type.String())
	}
}

// rangeOver examines the operand of a range loop.
func (p *program) rangeOver(n *node, loop *ast.RangeStmt) {
	switch t := p.typeOf(loop.X); {
	case isCore[*types.Map](t):
		p.mapLoop(n, loop)
	case isCore[*types.Chan](t):
		n.report("channel", loop.X, "a loop over a channel")
	case p.isIterator(loop.X):
		p.mapLoop(n, loop)
	}
}

// use examines a name. Whatever it refers to is reached too.
func (p *program) use(n *node, id *ast.Ident) {
	object := p.TypesInfo.Uses[id]
	if object == nil || object.Pkg() == nil {
		return
	}
	p.instance(n, id)
	switch o := object.(type) {
	case *types.Func:
		o = o.Origin()
		if isMethodOfInterface(o) {
			p.dynamic(n, id, o, o.Signature().Recv().Type())
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
	case *types.Const:
		p.refer(n, id, o)
	case *types.TypeName:
		if isStandard(o.Pkg().Path()) {
			p.standard(n, id, o)
		}
	}
}

// refer notes that a node refers to a function, variable or constant.
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

func (p *program) call(n *node, call *ast.CallExpr) {
	p.printed(n, call)
	p.sorted(n, call)
	switch b := p.builtin(call); b {
	case "close":
		n.report("channel", call, "close of a channel")
	case "make":
		if isCore[*types.Chan](p.typeOf(call)) {
			n.report("channel", call, "make of a channel")
		}
	case "cap":
		p.capacity(n, call)
	case "recover":
		n.report("memory", call, "recover hides a panic, such as one for a list that is too long here")
	}
}
