package determinism

import (
	"go/ast"
	"go/types"
	"slices"
)

// calledFunc returns the function that a call names, or nil.
func (p *program) calledFunc(call *ast.CallExpr) *types.Func {
	if id := calleeName(call); id != nil {
		if fn, ok := p.TypesInfo.Uses[id].(*types.Func); ok {
			return fn.Origin()
		}
	}
	return nil
}

func isMethodOfInterface(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// isLocalLiteral reports whether a call is of a literal, or of a variable of the node that holds one.
func (p *program) isLocalLiteral(n *node, call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		return true
	case *ast.Ident:
		v, ok := p.TypesInfo.Uses[fun].(*types.Var)
		return ok && p.locals.vars[v] != nil && n.declares(v)
	}
	return false
}

// isPureFunc reports whether a function of another package is known to change nothing.
func (p *program) isPureFunc(fn *types.Func) bool {
	if isMethodOfInterface(fn) || fn.Pkg() == nil {
		return false
	}
	if fn.Pkg() == p.Pkg {
		n := p.objects[fn]
		return n != nil && !n.any
	}
	if isStandard(fn.Pkg().Path()) {
		if fn.Pkg().Path() == "regexp" || qualified(fn) == "strings.Replacer.Replace" {
			return true
		}
		_, byPointer := recvType(fn).(*types.Pointer)
		return !byPointer && (slices.Contains(pureStandard, fn.Pkg().Path()) || pureNames[qualified(fn)])
	}
	return !p.ImportObjectFact(fn, &writer{})
}

// recvType returns the type of a method's receiver, or nil.
func recvType(fn *types.Func) types.Type {
	if recv := fn.Signature().Recv(); recv != nil {
		return types.Unalias(recv.Type())
	}
	return nil
}

// isPureCall reports whether a call changes nothing.
func (p *program) isPureCall(call *ast.CallExpr) bool {
	if p.TypesInfo.Types[call.Fun].IsType() {
		return true
	}
	switch p.builtin(call) {
	case "len", "cap", "min", "max", "make", "new", "complex", "real", "imag":
		return true
	case "":
		fn := p.calledFunc(call)
		return fn != nil && p.isPureFunc(fn)
	}
	return false
}

// effectsOf returns what a call changes, as far as it has a name.
func (p *program) effectsOf(call *ast.CallExpr) effects {
	fn := p.calledFunc(call)
	if fn != nil && fn.Pkg() == p.Pkg && !isMethodOfInterface(fn) {
		if n := p.objects[fn]; n != nil {
			seen := effects{writes: map[place]bool{}, outer: map[place]bool{}}
			merge(seen.writes, n.writes) // without what is local there
			merge(seen.outer, n.outer)
			return seen
		}
	}
	n := &node{effects: effects{writes: map[place]bool{}, outer: map[place]bool{}}}
	switch {
	case p.TypesInfo.Types[call.Fun].IsType() || p.builtin(call) != "":
	case fn == nil:
		p.literalEffects(n, call)
	case !p.isPureFunc(fn):
		p.argumentsWritten(n, call)
	}
	return n.effects
}

// literalEffects notes what a call of a function literal, or of a variable that holds one, changes.
func (p *program) literalEffects(n *node, call *ast.CallExpr) {
	lit, _ := ast.Unparen(call.Fun).(*ast.FuncLit)
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if v, ok := p.TypesInfo.Uses[id].(*types.Var); ok {
			lit = p.locals.vars[v]
		}
	}
	if lit == nil {
		return
	}
	inner := &node{bodies: []ast.Node{lit}}
	p.findEffects(inner)
	for _, c := range inner.callees {
		merge(inner.writes, c.writes)
		merge(inner.outer, c.outer)
	}
	for w := range inner.writes {
		if !inner.declares(w.v) {
			n.writes[w] = true
		}
	}
	for w := range inner.outer {
		if !inner.declares(w.v) {
			n.outer[w] = true
		}
	}
}
