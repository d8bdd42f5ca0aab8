package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A value is assigned to a local variable somewhere.
type value struct {
	expr    ast.Expr // nil if it is unknown
	element ast.Expr // the list of which it is an element; expr is nil then
	shrinks int      // bits that "x /= 1<<k" and "x >>= k" remove; expr is nil then
}

// values returns all values of the variables of functions, without parameters.
func (p *program) values() map[*types.Var][]value {
	if p.assigned == nil {
		p.assigned = map[*types.Var][]value{}
		for _, f := range p.files {
			for n := range ast.Preorder(f) {
				p.noteValues(n)
			}
		}
	}
	return p.assigned
}

func (p *program) setValue(left ast.Expr, v value) {
	if o := p.variable(left); o != nil && isLocalVar(o) {
		p.assigned[o] = append(p.assigned[o], v)
	}
}

func (p *program) noteValues(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			switch {
			case len(n.Lhs) != len(n.Rhs):
				p.setValue(left, value{})
			case n.Tok == token.DEFINE || n.Tok == token.ASSIGN:
				p.setValue(left, value{expr: n.Rhs[i]})
			default:
				p.noteOperation(n)
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			p.setValue(n.X, value{})
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if len(n.Values) == len(n.Names) {
				p.setValue(name, value{expr: n.Values[i]})
			} else if len(n.Values) > 0 {
				p.setValue(name, value{})
			}
		}
	case *ast.RangeStmt:
		if n.Key != nil {
			var bound ast.Expr // of a loop over an integer
			if sortable(p.typeOf(n.X)) {
				bound = n.X
			}
			p.setValue(n.Key, value{expr: bound})
		}
		if n.Value != nil {
			p.setValue(n.Value, value{element: n.X})
		}
	}
}

// noteOperation notes "x op= y". Sums and differences have the scale of x, or are found as a mix of scales.
func (p *program) noteOperation(n *ast.AssignStmt) {
	y := p.TypesInfo.Types[n.Rhs[0]].Value
	switch n.Tok {
	case token.QUO_ASSIGN:
		if y != nil && powerOfTwo(y) > 0 {
			p.setValue(n.Lhs[0], value{shrinks: powerOfTwo(y)})
		}
	case token.SHR_ASSIGN:
		p.setValue(n.Lhs[0], value{shrinks: p.shiftOf(n.Rhs[0])})
	}
}

// scaleOfVar returns the scale of a variable: the greatest of its values, less the bits that operations remove.
func (p *program) scaleOfVar(v *types.Var, full int) int {
	list, ok := p.values()[v]
	if !ok || p.scaling[v] {
		return full
	}
	p.scaling[v] = true
	defer delete(p.scaling, v)
	scale, known, shrinks := 0, false, 0
	for _, one := range list {
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
func (p *program) scaleOfField(e *ast.SelectorExpr, full int) int {
	v := p.variable(e.X)
	if v == nil || p.scaling[v] {
		return full
	}
	p.scaling[v] = true
	defer delete(p.scaling, v)
	scale := full
	for _, one := range p.values()[v] {
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
