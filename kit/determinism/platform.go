package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// complement finds a constant such as ^uint(0), whose value depends on the size of a word. A mask of other bits does not.
func (p *program) complement(n *node, e *ast.UnaryExpr) {
	b, ok := p.typeOf(e).Underlying().(*types.Basic)
	if !ok || e.Op != token.XOR || p.constant(e) == nil || b.Kind() != types.Uint && b.Kind() != types.Uintptr {
		return
	}
	var at ast.Node = e
	for {
		paren, ok := p.parents[at].(*ast.ParenExpr)
		if !ok {
			break
		}
		at = paren
	}
	switch up := p.parents[at].(type) {
	case *ast.BinaryExpr:
		if up.Op == token.AND {
			return
		}
	case *ast.AssignStmt:
		if up.Tok == token.AND_ASSIGN {
			return
		}
	}
	n.report("runtime", e, types.ExprString(e)+" depends on the size of a word")
}

// capacity finds a question for the room of a list, which the runtime decides, unless the answer only decides what is allocated.
func (p *program) capacity(n *node, call *ast.CallExpr) {
	if isCore[*types.Slice](p.typeOf(call.Args[0])) && !p.allocates(call) {
		n.report("memory", call, types.ExprString(call)+" depends on how the runtime lets lists grow")
	}
}

// allocates reports whether an expression only decides how much a list has room for.
func (p *program) allocates(e ast.Expr) bool {
	for at := ast.Node(e); ; {
		up := p.parents[at]
		switch up := up.(type) {
		case *ast.CallExpr:
			if p.isAllocation(up) && !within(e, up.Fun) {
				return up.Args[len(up.Args)-1] == at
			}
		case *ast.SliceExpr:
			return up.Max == at
		case *ast.IfStmt:
			return up.Cond == at && up.Else == nil && len(up.Body.List) == 1 && p.onlyAllocates(up.Body.List[0])
		case ast.Expr:
		default:
			return false
		}
		at = up
	}
}

// onlyAllocates reports whether a statement only gives room to a list.
func (p *program) onlyAllocates(s ast.Stmt) bool {
	var list []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		list = s.Rhs
	case *ast.ReturnStmt:
		list = s.Results
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return !ok || !p.isAllocation(call) && (p.builtin(call) != "append" || !p.isCallOfMake(call.Args[0]))
	})
}

// isAllocation reports whether a call gives room to a list by its last argument, a number.
func (p *program) isAllocation(call *ast.CallExpr) bool {
	return p.builtin(call) == "make" || p.standardFunc(call, "slices") == "Grow"
}

func (p *program) isCallOfMake(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && p.builtin(call) == "make"
}
