package determinism

import (
	"go/ast"
	"go/types"
)

// dynamic resolves the call of an interface's method to the methods of all visible types: those of this package and of
// its imports.
func (p *program) dynamic(n *node, id *ast.Ident, method *types.Func, iface types.Type) {
	if isStandard(method.Pkg().Path()) && method.Pkg().Path() != "reflect" {
		iface = method.Signature().Recv().Type()
	}
	u, ok := iface.Underlying().(*types.Interface)
	if !ok {
		return
	}
	found := false
	for _, pkg := range append([]*types.Package{p.Pkg}, p.Pkg.Imports()...) {
		if isStandard(pkg.Path()) {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || types.IsInterface(t.Type()) {
				continue
			}
			if m := methodOf(t.Type(), u, method); m != nil {
				found = true
				p.refer(n, id, m)
			}
		}
	}
	if _, isParameter := iface.(*types.TypeParam); !found && !isStandard(method.Pkg().Path()) && !isParameter {
		n.report("unseen", id, "no visible type has the method "+types.TypeString(iface, types.RelativeTo(p.Pkg))+"."+method.Name())
	}
}

// methodOf returns the method of a type that implements an interface's method, or nil.
func methodOf(t types.Type, iface *types.Interface, method *types.Func) *types.Func {
	if named, ok := types.Unalias(t).(*types.Named); ok && named.TypeParams() != nil {
		// A generic type: by the name alone, as it has no method set before it is used.
		for m := range named.Methods() {
			if m.Name() == method.Name() {
				return m
			}
		}
		return nil
	}
	ptr := types.NewPointer(t)
	if !types.Implements(ptr, iface) {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(ptr, true, method.Pkg(), method.Name())
	m, _ := o.(*types.Func)
	if m == nil || types.IsInterface(m.Signature().Recv().Type()) {
		return nil
	}
	return m.Origin()
}

// instance adds the methods of type arguments that the constraint names.
func (p *program) instance(n *node, id *ast.Ident) {
	inst, ok := p.TypesInfo.Instances[id]
	if !ok {
		return
	}
	fn, ok := p.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return
	}
	params := fn.Origin().Signature().TypeParams()
	for i := range min(params.Len(), inst.TypeArgs.Len()) {
		constraint, ok := params.At(i).Constraint().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for m := range constraint.Methods() {
			o, _, _ := types.LookupFieldOrMethod(inst.TypeArgs.At(i), true, m.Pkg(), m.Name())
			if f, ok := o.(*types.Func); ok && f.Pkg() != nil && !types.IsInterface(f.Signature().Recv().Type()) {
				p.refer(n, id, f.Origin())
			}
		}
	}
}

// functionField resolves the call of a field of function type to all functions that the package assigns to it.
func (p *program) functionField(n *node, id *ast.Ident, field *types.Var) {
	field = field.Origin()
	if !is[*types.Signature](field.Type()) || field.Pkg() != p.Pkg || !p.isCalled(id) {
		return
	}
	values := p.locals.fields[field]
	for _, v := range values {
		if lit, ok := ast.Unparen(v).(*ast.FuncLit); ok {
			n.refs = append(n.refs, p.literal(lit))
		} else if fn := p.namedFunc(v); fn != nil {
			p.refer(n, id, fn)
		} else if !p.TypesInfo.Types[v].IsNil() {
			n.report("unseen", id, "the function in the field "+field.Name())
		}
	}
	if len(values) == 0 {
		n.report("unseen", id, "the function in the field "+field.Name()+", which this package never sets")
	}
}

// isCalled reports whether a field's name is the function of a call.
func (p *program) isCalled(id *ast.Ident) bool {
	sel, ok := p.parents[id].(*ast.SelectorExpr)
	if !ok {
		return false
	}
	call, ok := p.parents[sel].(*ast.CallExpr)
	return ok && call.Fun == ast.Expr(sel)
}

// localFuncs has the function literals assigned to variables, and all values assigned to fields.
type localFuncs struct {
	vars   map[*types.Var]*ast.FuncLit
	fields map[*types.Var][]ast.Expr
}

func (p *program) findLocalFuncs() {
	p.locals = localFuncs{map[*types.Var]*ast.FuncLit{}, map[*types.Var][]ast.Expr{}}
	for _, f := range p.files {
		for n := range ast.Preorder(f) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i := range n.Lhs {
					if len(n.Lhs) == len(n.Rhs) {
						p.setFunc(n.Lhs[i], n.Rhs[i])
					}
				}
			case *ast.CompositeLit:
				p.setFields(n)
			}
		}
	}
}

// setFunc notes the assignment of a function to a variable or a field.
func (p *program) setFunc(left, right ast.Expr) {
	switch left := ast.Unparen(left).(type) {
	case *ast.Ident:
		v := p.variable(left)
		if lit, ok := ast.Unparen(right).(*ast.FuncLit); ok && v != nil {
			p.locals.vars[v] = lit
		}
	case *ast.SelectorExpr:
		if v, ok := p.TypesInfo.Uses[left.Sel].(*types.Var); ok && v.IsField() {
			p.locals.fields[v.Origin()] = append(p.locals.fields[v.Origin()], right)
		}
	}
}

func (p *program) setFields(lit *ast.CompositeLit) {
	s, ok := deref(p.typeOf(lit)).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range lit.Elts {
		var v *types.Var
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			v, e = p.variable(kv.Key), kv.Value
		} else if i < s.NumFields() {
			v = s.Field(i)
		}
		if v != nil {
			p.locals.fields[v.Origin()] = append(p.locals.fields[v.Origin()], e)
		}
	}
}
