package determinism

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutable is the fact that a variable of another package changes after its package was initialized.
type mutable struct{}

func (*mutable) AFact() {}

func (*mutable) String() string { return "mutable" }

// variableAt returns the wanted variable of which an expression is a part, up to a pointer that the variable does not
// contain itself, or nil. If behind is set, the memory behind the expression counts, and a local variable stands for
// the values assigned to it.
func (p *graph) variableAt(e ast.Expr, behind bool, wanted func(types.Object) *types.Var) *types.Var {
	for ; e != nil; e, behind = operand(e), true {
		switch u := ast.Unparen(e).(type) {
		case *ast.Ident:
			v := wanted(p.TypesInfo.Uses[u])
			if v == nil && behind {
				v = p.sharedWith(u, wanted)
			}
			return v
		case *ast.SelectorExpr:
			if v := wanted(p.TypesInfo.Uses[u.Sel]); v != nil {
				return v
			}
		}
	}
	return nil
}

// sharedWith returns the variable from which all values of a local list, map or pointer come.
func (p *graph) sharedWith(id *ast.Ident, wanted func(types.Object) *types.Var) (shared *types.Var) {
	v := p.variable(id)
	if v == nil || !isCore[*types.Slice](v.Type()) && !isCore[*types.Map](v.Type()) && !is[*types.Pointer](v.Type()) {
		return nil
	}
	for one := range p.follow(v) {
		if shared = p.variableAt(cmp.Or(one.element, one.expr), true, wanted); shared == nil {
			return nil
		}
	}
	return shared
}

// globalWrites gives the package-level variables that a syntax node changes.
func (p *graph) globalWrites(at ast.Node, give func(*types.Var, ast.Node)) {
	p.changes(at, func(o types.Object) *types.Var {
		if v, ok := o.(*types.Var); ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return v
		}
		return nil
	}, give)
}

// changes gives the wanted variables that a syntax node changes.
func (p *graph) changes(at ast.Node, wanted func(types.Object) *types.Var, give func(*types.Var, ast.Node)) {
	look := func(e ast.Expr, behind bool) {
		if e != nil {
			if v := p.variableAt(e, behind, wanted); v != nil {
				give(v, e)
			}
		}
	}
	content := func(e ast.Expr) { look(e, true) }
	for _, e := range assigned(at) {
		look(e, false)
	}
	switch at := at.(type) {
	case *ast.UnaryExpr:
		if at.Op == token.AND && p.isChangedBehind(at) {
			look(at.X, false)
		}
	case *ast.CallExpr:
		p.globalCall(at, content)
	case *ast.SelectorExpr:
		p.methodValue(at, content)
	}
}

// isChangedBehind reports whether something may change by its address: no struct, a struct with fields that change, or an argument.
func (p *graph) isChangedBehind(address *ast.UnaryExpr) bool {
	s, ok := p.typeOf(address.X).Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for f := range s.Fields() {
		if p.written[f.Origin()] {
			return true
		}
	}
	call, ok := p.parents[address].(*ast.CallExpr)
	return ok && !p.isPureCall(call)
}

// globalCall examines calls that change their receivers or arguments.
func (p *graph) globalCall(call *ast.CallExpr, target func(ast.Expr)) {
	switch p.builtin(call) {
	case "copy", "delete", "clear":
		target(call.Args[0])
		return
	case "":
	default:
		return
	}
	fn := p.namedFunc(call.Fun)
	if fn == nil || p.isPureFunc(fn) || fn.Pkg() == nil {
		return
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.TypesInfo.Selections[sel] != nil && (fn.Pkg().Path() != "sync" || changesMap(fn)) && byPointer(fn) {
		target(sel.X)
	}
	if changesList(fn) && len(call.Args) > 0 {
		target(call.Args[0])
	}
}

// changesMap reports whether a function is one that changes a sync.Map. Other types of that package have no content.
func changesMap(fn *types.Func) bool {
	return strings.HasPrefix(qualified(fn), "sync.Map.") && fn.Name() != "Load" && fn.Name() != "Range"
}

// changesList reports whether a function of the standard library changes the list that is its first argument.
func changesList(fn *types.Func) bool {
	switch fn.Pkg().Path() {
	case "sort":
		return !strings.HasPrefix(fn.Name(), "Search") && !strings.HasSuffix(fn.Name(), "AreSorted") && !strings.HasSuffix(fn.Name(), "IsSorted")
	case "slices":
		for _, verb := range []string{"Sort", "Reverse", "Delete", "Insert", "Replace", "Compact"} {
			if strings.HasPrefix(fn.Name(), verb) && !strings.HasPrefix(fn.Name(), "Sorted") {
				return true
			}
		}
	}
	return false
}

// globalWrite reports a change of a package-level variable after initialization.
func (p *program) globalWrite(n *node, at ast.Node) {
	if slices.Contains(p.inits, n) {
		return
	}
	p.globalWrites(at, func(v *types.Var, place ast.Node) {
		if n.object != types.Object(v) {
			n.report("global", place, v.Name()+" is changed")
		}
	})
}

// directWrites returns the variables of this package that a node changes itself.
func (p *graph) directWrites(n *node) map[*types.Var]bool {
	found := map[*types.Var]bool{}
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			p.globalWrites(at, func(v *types.Var, _ ast.Node) { found[v] = found[v] || v.Pkg() == p.Pkg })
		}
	}
	return found
}

// findMutable exports the variables that change after initialization.
func (p *graph) findMutable() {
	for _, n := range p.nodes {
		if _, isFunc := n.object.(*types.Func); !isFunc || slices.Contains(p.inits, n) {
			continue
		}
		for v, own := range p.directWrites(n) {
			if own {
				p.ExportObjectFact(v, &mutable{})
			}
		}
	}
}

// captured examines an expression of a function that outlives the call that makes it.
func (p *graph) captured(n *node, e ast.Expr, seen map[*types.Func]bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		p.capturedBy(n, e)
	case *ast.Ident:
		if lit := p.funcs[p.variable(e)]; lit != nil {
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
func (p *graph) capturedByMade(n *node, seen map[*types.Func]bool) {
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
func (p *graph) capturedBy(n *node, lit *ast.FuncLit) {
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
func (p *graph) boundTo(n *node, e *ast.SelectorExpr) {
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
func (p *graph) methodValue(e *ast.SelectorExpr, give func(ast.Expr)) {
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
