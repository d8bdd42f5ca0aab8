package determinism

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// The scale of an expression is the number of its bits after the point: all of a fixed-point number's, none of a count
// that was converted to its type, fewer after a division by a power of two. A native product is right if the scales of
// its factors add up to no more than that of the type, and a quotient if the divisor has at most half of it. So "Q(n) *
// One" and "(x/(1<<16)) * (y/(1<<16))" are right, and "x * y" is not.

// scales finds the scales of expressions.
type scales struct{ *source }

// fractionBits returns the bits after the point of another package's fixed-point type, which has a method FractionBits, or 0.
func (p scales) fractionBits(t types.Type) int {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == p.Pkg || !isKind(named, types.IsInteger) {
		return 0 // the package of the type implements it
	}
	if o, _, _ := types.LookupFieldOrMethod(named, false, nil, "FractionBits"); o == nil {
		return 0
	}
	return 32 // the number itself cannot be seen from another package; scales are relative to it
}

// fixedOperation examines an operation on fixed-point numbers.
func (p scales) fixedOperation(n *node, at ast.Node, op token.Token, x, y ast.Expr) {
	t := p.typeOf(x)
	full := p.fractionBits(t)
	if full == 0 {
		t = p.typeOf(y)
		full = p.fractionBits(t)
	}
	if e, ok := at.(ast.Expr); full == 0 || ok && p.constant(e) != nil {
		return
	}
	a, b := p.scale(x, full), p.scale(y, full)
	text := types.ExprString(x) + " " + op.String() + " " + types.ExprString(y)
	switch op {
	case token.MUL:
		if a+b > full && !p.isUnit(x) && !p.isUnit(y) {
			n.report("fixedpoint", at, text+" multiplies two numbers with fractions", p.methodFix(at, "Mul", x, y, t)...)
		}
	case token.QUO:
		if b > full/2 && !p.isCounted(at) {
			n.report("fixedpoint", at, text+" divides by a number with a fraction", p.methodFix(at, "Div", x, y, t)...)
		}
	case token.REM, token.ADD, token.SUB, token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ:
		if a != b && (p.isWhole(x) || p.isWhole(y)) {
			n.report("fixedpoint", at, text+" mixes a number with a fraction and a whole number")
		}
	case token.SHL:
		if a > 0 && p.shiftOf(y) >= full {
			n.report("fixedpoint", at, text+" shifts out all bits before the binary point")
		}
	}
}

// isWhole reports whether an expression is a count converted to a fixed-point type, or a constant that comes from none.
func (p scales) isWhole(e ast.Expr) bool {
	e = ast.Unparen(e)
	if v := p.constant(e); v != nil {
		n, ok := constant.Int64Val(constant.ToInt(v))
		return ok && n != 0 && -1<<16 < n && n < 1<<16 && !p.mentionsFixed(e) // a greater one is meant as it is
	}
	call, ok := e.(*ast.CallExpr)
	return ok && p.isConversion(call) && p.scale(e, 32) == 0
}

// isUnit reports whether an expression is a constant such as 3*fixed.One, which only makes sense next to a count.
func (p scales) isUnit(e ast.Expr) bool {
	v := p.constant(e)
	if v == nil || !p.mentionsFixed(e) {
		return false
	}
	n, ok := constant.Int64Val(constant.ToInt(v))
	return ok && n != 0 && n%(1<<32) == 0
}

func (p scales) isZero(e ast.Expr) bool {
	v := p.constant(e)
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// isCounted reports whether a quotient is at once converted to a plain integer, as in "how many times".
func (p scales) isCounted(at ast.Node) bool {
	for {
		switch outer := p.parents[at].(type) {
		case *ast.ParenExpr:
			at = outer
		case *ast.CallExpr:
			return p.isConversion(outer) && p.fractionBits(p.typeOf(outer)) == 0
		default:
			return false
		}
	}
}

// scale returns the bits after the point of an expression.
func (p scales) scale(e ast.Expr, full int) int {
	e = ast.Unparen(e)
	if v := p.constant(e); v != nil {
		if p.mentionsFixed(e) {
			return full
		}
		return 0
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		if p.isConversion(e) && len(e.Args) == 1 {
			return p.scaleOfConversion(e.Args[0], full)
		}
	case *ast.BinaryExpr:
		return p.scaleOfOperation(e, full)
	case *ast.UnaryExpr:
		return p.scale(e.X, full)
	case *ast.SelectorExpr:
		return p.scaleOfField(e, full)
	case *ast.Ident:
		if v := p.variable(e); v != nil {
			return p.scaleOfVar(v, full)
		}
	}
	return full
}

// scaleOfConversion returns the scale of an integer that becomes fixed-point: 0 for a count, unless it has fixed-point parts.
func (p scales) scaleOfConversion(arg ast.Expr, full int) int {
	if p.fractionBits(p.typeOf(arg)) != 0 {
		return p.scale(arg, full)
	}
	raw, shifted := p.mentionsFixed(arg), 0
	for n := range ast.Preorder(arg) {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.SHL {
			raw = true
		} else if ok && b.Op == token.SHR {
			shifted = max(shifted, p.shiftOf(b.Y))
		}
	}
	if raw {
		return max(full-shifted, 0)
	}
	return 0
}

func (p scales) scaleOfOperation(e *ast.BinaryExpr, full int) int {
	a, b := p.scale(e.X, full), p.scale(e.Y, full)
	switch e.Op {
	case token.MUL:
		return min(a+b, full)
	case token.QUO:
		if v := p.constant(e.Y); v != nil {
			if k := powerOfTwo(v); k >= 0 && b == 0 {
				return max(a-k, 0)
			}
		}
		return max(a-b, 0)
	case token.SHR:
		return max(a-p.shiftOf(e.Y), 0)
	case token.SHL:
		return min(a+p.shiftOf(e.Y), full)
	}
	return max(a, b)
}

// mentionsFixed reports whether an expression contains a fixed-point number.
func (p scales) mentionsFixed(e ast.Expr) bool {
	return contains(e, func(n ast.Node) bool {
		id, _ := n.(*ast.Ident)
		switch o := p.TypesInfo.Uses[id].(type) {
		case *types.Const, *types.Var:
			return p.fractionBits(o.Type()) != 0
		}
		return false
	})
}

// methodFix suggests a call of the type's method.
func (p scales) methodFix(at ast.Node, method string, x, y ast.Expr, t types.Type) []analysis.SuggestedFix {
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, method)
	if fn, ok := o.(*types.Func); !ok || fn.Signature().Params().Len() != 1 || !types.Identical(p.typeOf(x), t) {
		return nil
	}
	left := types.ExprString(x)
	switch ast.Unparen(x).(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr:
		left = "(" + types.ExprString(ast.Unparen(x)) + ")"
	}
	text := left + "." + method + "(" + types.ExprString(ast.Unparen(y)) + ")"
	if s, ok := at.(*ast.AssignStmt); ok {
		text = types.ExprString(s.Lhs[0]) + " = " + text
	}
	return []analysis.SuggestedFix{{
		Message:   "call " + method,
		TextEdits: []analysis.TextEdit{{Pos: at.Pos(), End: at.End(), NewText: []byte(text)}},
	}}
}

// scaleOfVar returns the scale of a variable: the greatest of its values, less the bits that operations remove.
func (p scales) scaleOfVar(v *types.Var, full int) int {
	scale, known, shrinks := 0, false, 0
	for one := range p.follow(v) {
		switch {
		case one.shrinks > 0:
			shrinks = max(shrinks, one.shrinks)
		case one.expr == nil:
			return full
		case !p.isZero(one.expr):
			scale, known = max(scale, p.scale(one.expr, full)), true
		}
	}
	if !known {
		scale = full
	}
	return max(scale-shrinks, 0)
}

// scaleOfField returns the scale of a field of a local variable that is set to a literal: the least of its values.
func (p scales) scaleOfField(e *ast.SelectorExpr, full int) int {
	v := p.variable(e.X)
	if v == nil {
		return full
	}
	scale := full
	for one := range p.follow(v) {
		lit, ok := one.expr.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, elt := range lit.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok && !p.isZero(kv.Value) && types.ExprString(kv.Key) == e.Sel.Name {
				scale = min(scale, p.scale(kv.Value, full))
			}
		}
	}
	return scale
}
