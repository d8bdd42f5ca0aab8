package determinism

import (
	"go/ast"
	"go/types"
	"math/bits"
	"slices"
	"strings"
)

// A sharing is a place of a function that lets memory behind some parameters be memory behind others.
type sharing struct {
	into, from params
	at         ast.Node
	what       string
}

// sharedParams has the parameters of functions of lockstep.Rules that must not share memory: the world, and the configuration.
var sharedParams = map[string][2]params{"New": {1 << 0, 1 << 2}, "Step": {1 << 0, 1 << 1}}

// noteSharings notes the sharings of a node, with what is known of other functions so far.
func (p *program) noteSharings(n *node, a *access) {
	for at := range ast.Preorder(n.bodies[0]) {
		switch at := at.(type) {
		case *ast.AssignStmt:
			for i, left := range assigned(at) {
				if len(at.Rhs) == len(at.Lhs) && p.isBehind(left) && !p.isPartSetIn(n, left) {
					a.share(p.behind(a, left, nil), p.memory(a, at.Rhs[i], nil), at,
						types.ExprString(left)+" shares memory with "+p.sourceOf(a, at.Rhs[i]))
				}
			}
		case *ast.CallExpr:
			p.sharedByCall(a, at)
		}
	}
}

func (a *access) share(into, from params, at ast.Node, what string) {
	if from &^= into; into == 0 || from == 0 {
		return
	}
	same := func(s sharing) bool { return s.at == at && s.into == into }
	if i := slices.IndexFunc(a.sharings, same); i >= 0 { // functions that call each other have many ways to one place
		a.sharings[i].from |= from
		return
	}
	a.sharings = append(a.sharings, sharing{into, from, at, what})
}

// shared returns a number that grows with the sharings.
func (a *access) shared() (n int) {
	for _, s := range a.sharings {
		n += 1 + bits.OnesCount64(uint64(s.from))
	}
	return n
}

// sharedByCall notes the sharings of a function of this package with the arguments of a call.
func (p *program) sharedByCall(a *access, call *ast.CallExpr) {
	to := p.accesses[p.objects[p.namedFunc(call.Fun)]]
	if to == nil || to == a {
		return
	}
	args := p.arguments(call)
	for _, s := range to.sharings {
		var into, from params
		for i, arg := range args {
			if s.into&(1<<i) != 0 {
				into |= p.behind(a, arg, nil)
			}
			if s.from&(1<<i) != 0 {
				from |= p.memory(a, arg, nil)
			}
		}
		a.share(into, from, call, types.ExprString(call.Fun)+" lets the state share memory with "+p.sourceOf(a, args...))
	}
}

// sourceOf returns the text of the first expression that shares memory with a parameter. A literal is named by its part.
func (p *program) sourceOf(a *access, list ...ast.Expr) string {
	for _, e := range slices.Backward(list) {
		if p.memory(a, e, nil) == 0 {
			continue
		}
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return p.sourceOf(a, partsOf(e)...)
		case *ast.CallExpr:
			if p.builtin(e) == "append" && len(e.Args) > 1 {
				return p.sourceOf(a, e.Args...)
			}
		}
		return types.ExprString(e)
	}
	return "it"
}

// partsOf returns the values in a literal.
func partsOf(lit *ast.CompositeLit) (list []ast.Expr) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		list = append(list, e)
	}
	return list
}

// memory returns the parameters with which a value shares memory. It is nothing where that is not known.
func (p *program) memory(a *access, e ast.Expr, seen []*types.Var) (all params) {
	if !sharesState(p.typeOf(e)) {
		return 0
	}
	switch e := p.rootOf(e).(type) {
	case *ast.Ident:
		return p.memoryOf(a, p.variable(e), seen)
	case *ast.CompositeLit:
		for _, part := range partsOf(e) {
			all |= p.memory(a, part, seen)
		}
	case *ast.CallExpr:
		if p.builtin(e) != "append" {
			return p.behindCall(a, e, seen)
		}
		for i, arg := range e.Args {
			if list, ok := p.typeOf(arg).Underlying().(*types.Slice); i == 0 || !e.Ellipsis.IsValid() || ok && shares(list.Elem()) {
				all |= p.memory(a, arg, seen)
			}
		}
	}
	return all
}

// memoryOf follows a local variable to its values, unless parts of it are replaced.
func (p *program) memoryOf(a *access, v *types.Var, seen []*types.Var) (all params) {
	if v == nil || slices.Contains(seen, v) || p.isPartSet(v) {
		return 0
	}
	if i := a.index[v]; i != 0 {
		return i
	}
	seen = append(seen, v)
	for _, one := range p.values()[v] {
		from := one.expr
		if one.element != nil {
			from = one.element
		}
		if from != nil {
			all |= p.memory(a, from, seen)
		}
	}
	return all
}

// isPartSet reports whether a part of a variable that may share memory is set, as after a copy of a struct.
func (p *program) isPartSet(v *types.Var) bool {
	if p.partSet == nil {
		p.partSet = map[*types.Var]bool{}
		for _, f := range p.files {
			for at := range ast.Preorder(f) {
				for _, e := range assigned(at) {
					if e != nil && !p.isBehind(e) && shares(p.typeOf(e)) {
						p.partSet[p.partOf(e)] = true
					}
				}
			}
		}
	}
	return p.partSet[v]
}

// isPartSetIn reports whether a function sets a part of a place that may share memory, as after a copy of a struct to it.
func (p *program) isPartSetIn(n *node, whole ast.Expr) bool {
	return contains(n.bodies[0], func(at ast.Node) bool {
		return slices.ContainsFunc(assigned(at), func(e ast.Expr) bool {
			s, ok := e.(*ast.SelectorExpr)
			if !ok || p.isDerived(s) || !sharesState(p.typeOf(s)) {
				return false
			}
			return types.ExprString(s.X) == types.ExprString(whole)
		})
	})
}

// sharesState is shares without derived fields.
func sharesState(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return shares(t)
	}
	for i := range s.NumFields() {
		if !strings.Contains(s.Tag(i), `state:"derived"`) && sharesState(s.Field(i).Type()) {
			return true
		}
	}
	return false
}

// partOf returns the variable of whose value an expression is a part, or nil if it is the whole.
func (p *program) partOf(e ast.Expr) *types.Var {
	part := false
	for ; ; part = true {
		switch u := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = u.X
		case *ast.IndexExpr:
			e = u.X
		case *ast.Ident:
			if part {
				return p.variable(u)
			}
			return nil
		default:
			return nil
		}
	}
}
