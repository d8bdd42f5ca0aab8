package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// writer is the fact that a function of another package changes something that outlives its call.
type writer struct{}

func (*writer) AFact() {}

func (*writer) String() string { return "writer" }

func (p *graph) findEffects(n *node) {
	n.writes, n.outer = map[place]bool{}, map[place]bool{}
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			for _, e := range assigned(at) {
				p.noteWrite(n, e)
			}
			switch at := at.(type) {
			case *ast.SendStmt, *ast.GoStmt, *ast.SelectStmt, *ast.DeferStmt:
				n.any = true
			case *ast.CallExpr:
				p.called(n, at)
			}
		}
	}
}

func (p *graph) spreadEffects() {
	for changed := true; changed; {
		changed = false
		for _, n := range slices.Backward(p.nodes) {
			for _, c := range n.callees {
				if c.any && !n.any {
					n.any, changed = true, true
				}
				changed = merge(n.writes, c.writes) || changed
				changed = merge(n.outer, c.outer) || changed
			}
		}
	}
	p.written = map[*types.Var]bool{}
	for _, n := range p.nodes {
		for w := range n.writes {
			p.written[w.v] = true
		}
		for w := range n.outer {
			p.written[w.v] = true
		}
	}
}

func merge(to, from map[place]bool) bool {
	before := len(to)
	for w := range from {
		if !isLocalVar(w.v) {
			to[w] = true
		}
	}
	return len(to) > before
}

func (p *graph) noteWrite(n *node, e ast.Expr) {
	if e == nil || isBlank(e) {
		return
	}
	e = ast.Unparen(e)
	if p.outlives(n, e) {
		n.any = true
	}
	if star, ok := e.(*ast.StarExpr); ok {
		if s, ok := p.typeOf(star).Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				n.writes[place{f.Origin(), false}] = true
			}
		}
		return
	}
	if w, ok := p.placeAt(e); ok {
		n.writes[w] = true
	}
	for w := range p.containers(e) {
		n.outer[w] = true
	}
}

// outlives reports whether the variable that an expression denotes may outlive a call of the node.
func (p *graph) outlives(n *node, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := p.variable(e)
		return v == nil || !n.declares(v)
	case *ast.SelectorExpr:
		return !is[*types.Struct](p.typeOf(e.X)) || p.outlives(n, e.X)
	case *ast.IndexExpr:
		switch t := p.typeOf(e.X); {
		case is[*types.Array](t):
			return p.outlives(n, e.X)
		case t != types.Typ[types.Invalid]:
			return !p.isFresh(n, e.X)
		}
	}
	return true
}

// declares reports whether a variable is declared inside the node.
func (n *node) declares(v *types.Var) bool {
	return slices.ContainsFunc(n.bodies, func(b ast.Node) bool { return b.Pos() <= v.Pos() && v.Pos() < b.End() })
}

// isFresh reports whether an expression is a variable that the node set with make or to a literal.
func (p *graph) isFresh(n *node, e ast.Expr) bool {
	v := p.variable(e)
	if v == nil || !n.declares(v) {
		return false
	}
	fresh := false
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			a, ok := at.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				continue
			}
			for i, left := range a.Lhs {
				if p.variable(left) != v {
					continue
				}
				switch r := ast.Unparen(a.Rhs[i]).(type) {
				case *ast.CompositeLit:
					fresh = true
				case *ast.CallExpr:
					fresh = p.builtin(r) == "make" || fresh && p.builtin(r) == "append"
				default:
					fresh = false
				}
			}
		}
	}
	return fresh
}

// pureStandard has the packages of the standard library whose functions change only their receivers.
var pureStandard = strings.Fields("cmp errors math math/bits strconv strings unicode unicode/utf8 unicode/utf16")

// pureNames has functions of other packages that change nothing.
var pureNames = map[string]bool{
	"fmt.Sprint": true, "fmt.Sprintf": true, "fmt.Sprintln": true, "fmt.Errorf": true,
	"slices.Contains": true, "slices.Index": true, "slices.Max": true, "slices.Min": true, "slices.Equal": true,
	"slices.Compare": true, "slices.BinarySearch": true, "slices.Clone": true, "slices.Concat": true, "slices.IsSorted": true,
	"slices.Sorted": true, "slices.Collect": true, "slices.Values": true, "slices.All": true, "slices.Backward": true,
	"maps.Keys": true, "maps.Values": true, "maps.All": true, "maps.Clone": true, "maps.Equal": true,
	"bytes.Equal": true, "bytes.Compare": true,
}

// called notes the changes that a call may make.
func (p *graph) called(n *node, call *ast.CallExpr) {
	if p.isConversion(call) {
		return
	}
	if b := p.builtin(call); b != "" {
		if b == "copy" || b == "delete" || b == "clear" {
			n.writesElements(p, call.Args[0])
		}
		return
	}
	fn := p.namedFunc(call.Fun)
	switch {
	case fn == nil: // a literal that is called is part of the body, and so is one in a variable of it
		n.any = n.any || !p.isLocalLiteral(n, call)
	case fn.Pkg() == p.Pkg && !isMethodOfInterface(fn):
		if to := p.objects[fn]; to != nil {
			n.callees = append(n.callees, to)
		}
	case !p.isPureFunc(fn):
		n.any = true
		p.argumentsWritten(n, call)
	}
}

// argumentsWritten notes that an unknown function may change its receiver and its arguments.
func (p *graph) argumentsWritten(n *node, call *ast.CallExpr) {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.TypesInfo.Selections[sel] != nil {
		if w, ok := p.placeAt(sel.X); ok && byPointer(p.namedFunc(call.Fun)) && !is[*types.Pointer](p.typeOf(sel.X)) {
			n.writes[w] = true
		}
	}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if w, ok := p.placeAt(u.X); ok {
				n.writes[w] = true
			}
		} else if isCore[*types.Slice](p.typeOf(arg)) {
			n.writesElements(p, arg)
		}
	}
}

func (n *node) writesElements(p *graph, e ast.Expr) {
	if v := p.placeOf(e); v != nil {
		n.writes[place{v.Origin(), true}] = true
	}
	if !p.isFresh(n, e) {
		n.any = true
	}
}

// dynamic resolves a call of an interface method to the methods of all types in this package and its imports.
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
	if !is[*types.Signature](field.Type()) || field.Pkg() != p.Pkg || p.callOf(id) == nil {
		return
	}
	values := p.fields[field]
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

// isLocalLiteral reports whether a call is of a function literal, or of a variable of the node that has one.
func (p *graph) isLocalLiteral(n *node, call *ast.CallExpr) bool {
	if _, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return true
	}
	v := p.variable(call.Fun)
	return p.funcs[v] != nil && n.declares(v)
}

// isPureFunc reports whether a function of another package is known to change nothing.
func (p *graph) isPureFunc(fn *types.Func) bool {
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
func (p *graph) isPureCall(call *ast.CallExpr) bool {
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
func (p *graph) effectsOf(call *ast.CallExpr) effects {
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
func (p *graph) literalEffects(n *node, call *ast.CallExpr) {
	lit, _ := ast.Unparen(call.Fun).(*ast.FuncLit)
	if v := p.variable(call.Fun); v != nil {
		lit = p.funcs[v]
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
