package determinism

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// isLocalLiteral reports whether a call is of a function literal, or of a variable of the node that has one.
func (p *program) isLocalLiteral(n *node, call *ast.CallExpr) bool {
	if _, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return true
	}
	v := p.variable(call.Fun)
	return p.locals.vars[v] != nil && n.declares(v)
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
		return !byPointer(fn) && (slices.Contains(pureStandard, fn.Pkg().Path()) || pureNames[qualified(fn)])
	}
	return !p.ImportObjectFact(fn, &writer{})
}

// isPureCall reports whether a call changes nothing.
func (p *program) isPureCall(call *ast.CallExpr) bool {
	if p.isConversion(call) {
		return true
	}
	switch p.builtin(call) {
	case "len", "cap", "min", "max", "make", "new", "complex", "real", "imag":
		return true
	case "":
		fn := p.namedFunc(call.Fun)
		return fn != nil && p.isPureFunc(fn)
	}
	return false
}

// effectsOf returns the named places that a call changes.
func (p *program) effectsOf(call *ast.CallExpr) effects {
	fn := p.namedFunc(call.Fun)
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
	case p.isConversion(call) || p.builtin(call) != "":
	case fn == nil:
		p.literalEffects(n, call)
	case !p.isPureFunc(fn):
		p.argumentsWritten(n, call)
	}
	return n.effects
}

// literalEffects adds what a call of a function literal, or of a variable with one, changes.
func (p *program) literalEffects(n *node, call *ast.CallExpr) {
	lit, _ := ast.Unparen(call.Fun).(*ast.FuncLit)
	if v := p.variable(call.Fun); v != nil {
		lit = p.locals.vars[v]
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
	inside := func(w place, _ bool) bool { return inner.declares(w.v) }
	maps.DeleteFunc(inner.writes, inside)
	maps.DeleteFunc(inner.outer, inside)
	maps.Copy(n.writes, inner.writes)
	maps.Copy(n.outer, inner.outer)
}
