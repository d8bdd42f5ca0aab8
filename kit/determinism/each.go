package determinism

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A share says who else may reach memory in an element of Turn.Each. The greater one counts where it may be either.
type share int

const (
	fresh  share = iota // nobody: it was made in the element
	own                 // nobody: it is of the element
	common              // other elements
)

// A body is a function that Turn.Each calls, or that it calls in turn, with what is known of its parameters.
type body struct {
	*program
	root   ast.Node
	params map[*types.Var]share
	index  map[*types.Var]bool // parameters that are the index of the element
	calls  *eachCalls
}

// eachCalls are the functions that one Turn.Each reaches.
type eachCalls struct {
	n    *node
	seen map[string]share // what they return; also of those that are under way
	told map[token.Pos]bool
}

// each examines a call of Turn.Each.
func (p *program) each(n *node, call *ast.CallExpr) {
	if !isEachMethod(p.namedFunc(call.Fun)) || len(call.Args) != 2 {
		return
	}
	p.eachBody(n, call.Args[1], map[*types.Var]bool{})
}

func isEachMethod(fn *types.Func) bool {
	return fn != nil && fn.Name() == "Each" && isTurn(fn.Signature().Recv())
}

// isTurn reports whether a variable is a pointer to a lockstep.Turn.
func isTurn(v *types.Var) bool {
	if v == nil {
		return false
	}
	named, ok := types.Unalias(deref(v.Type())).(*types.Named)
	return ok && isEngine(named.Obj(), "Turn")
}

// eachBody examines the function of a Turn.Each, wherever it is named.
func (p *program) eachBody(n *node, e ast.Expr, seen map[*types.Var]bool) {
	e = ast.Unparen(e)
	if lit, ok := e.(*ast.FuncLit); ok {
		b := body{program: p, root: lit, calls: &eachCalls{n, map[string]share{}, map[token.Pos]bool{}}}
		b.take(lit.Type.Params, []share{fresh, own}, []bool{true, false})
		b.check()
		return
	}
	if fn := p.namedFunc(e); fn != nil && fn.Pkg() == p.Pkg {
		to := p.objects[fn]
		if decl, ok := declOf(to); ok {
			b := body{program: p, root: decl, calls: &eachCalls{n, map[string]share{}, map[token.Pos]bool{}}}
			if decl.Recv != nil { // a method value
				b.take(decl.Recv, []share{common}, []bool{false})
			}
			b.take(decl.Type.Params, []share{fresh, own}, []bool{true, false})
			b.check()
			return
		}
	}
	v := p.variable(e)
	if s, ok := e.(*ast.SelectorExpr); ok {
		v, _ = p.TypesInfo.Uses[s.Sel].(*types.Var)
	}
	if v == nil || seen[v] {
		n.report("each", e, types.ExprString(e)+" cannot be followed to a function of this package")
		return
	}
	seen[v] = true
	var values []ast.Expr
	if v.IsField() {
		values = p.fields[v.Origin()]
	} else {
		for _, one := range p.values[v] {
			values = append(values, one.expr)
		}
	}
	found := false
	for _, value := range values {
		if value != nil && !p.TypesInfo.Types[value].IsNil() {
			found = true
			p.eachBody(n, value, seen)
		}
	}
	if !found {
		n.report("each", e, types.ExprString(e)+" cannot be followed to a function of this package")
	}
}

func declOf(n *node) (*ast.FuncDecl, bool) {
	if n == nil || len(n.bodies) != 1 {
		return nil, false
	}
	d, ok := n.bodies[0].(*ast.FuncDecl)
	return d, ok && d.Body != nil
}

// take sets what is known of parameters, by their place in a list.
func (b *body) take(list *ast.FieldList, shares []share, indexes []bool) {
	if b.params == nil {
		b.params, b.index = map[*types.Var]share{}, map[*types.Var]bool{}
	}
	at := 0
	for _, f := range list.List {
		for _, name := range f.Names {
			if v, ok := b.TypesInfo.Defs[name].(*types.Var); ok && at < len(shares) {
				b.params[v], b.index[v] = shares[at], indexes[at]
			}
			at++
		}
		if len(f.Names) == 0 {
			at++
		}
	}
}

func (b *body) tell(at ast.Node, what string) {
	if !b.calls.told[at.Pos()] {
		b.calls.told[at.Pos()] = true
		b.calls.n.report("each", at, what)
	}
}

// check reports the changes of what other elements may reach.
func (b *body) check() {
	for at := range ast.Preorder(b.root) {
		for _, e := range assigned(at) {
			if e != nil && !isBlank(e) && b.placeShare(e) == common {
				b.tell(at, types.ExprString(e)+" is changed, which is not of the element alone")
			}
		}
		if call, ok := at.(*ast.CallExpr); ok && !b.isConversion(call) {
			b.call(call)
		}
	}
}

func (b *body) call(call *ast.CallExpr) {
	args := b.arguments(call)
	change := func(arg ast.Expr, s share) {
		if s == common {
			b.tell(call, types.ExprString(call.Fun)+" changes "+types.ExprString(arg)+", which is not of the element alone")
		}
	}
	switch b.builtin(call) {
	case "copy", "clear", "delete":
		change(call.Args[0], b.behindShare(call.Args[0]))
		return
	case "append": // it writes behind the end of the list
		if s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); !ok || !s.Slice3 {
			change(call.Args[0], b.behindShare(call.Args[0]))
		}
		return
	case "":
	default:
		return
	}
	fn := b.namedFunc(call.Fun)
	for i, arg := range args {
		if v := b.typeOf(arg); isTurn(types.NewVar(0, nil, "", v)) {
			switch s := b.valueShare(arg); {
			case s == common && b.isEngineFunc(fn):
				b.tell(call, types.ExprString(call.Fun)+" uses the Turn of Step, not that of the element")
			case s == own && i == 0 && fn != nil && slices.Contains([]string{"Each", "Phase", "End"}, fn.Name()) && b.isEngineFunc(fn):
				b.tell(call, types.ExprString(call.Fun)+" is not for an element")
			}
		}
	}
	if fn == nil || fn.Pkg() == nil || isMethodOfInterface(fn) || b.isEngineFunc(fn) {
		return // literals are part of the body, and other unknown code is "unseen"
	}
	if fn.Pkg() == b.Pkg {
		b.enter(call, fn)
		return
	}
	var m mutator
	for i, arg := range args {
		switch {
		case isStandard(fn.Pkg().Path()):
			if i == 0 && changesList(fn) {
				change(arg, b.behindShare(arg))
			}
		case b.ImportObjectFact(fn, &m) && slices.Contains(m.Params, i):
			change(arg, b.valueShare(arg))
		}
	}
}

func (b *body) isEngineFunc(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == enginePath
}

// enter examines a function of this package with what is known of its arguments, and returns what its result is.
func (b *body) enter(call *ast.CallExpr, fn *types.Func) share {
	decl, ok := declOf(b.objects[fn])
	if !ok {
		return common
	}
	args := b.arguments(call)
	var shares []share
	var indexes []bool
	for _, arg := range args {
		shares, indexes = append(shares, b.valueShare(arg)), append(indexes, b.isIndex(arg))
	}
	key := fmt.Sprint(decl.Pos(), shares, indexes)
	if s, ok := b.calls.seen[key]; ok {
		return s
	}
	b.calls.seen[key] = fresh
	to := body{program: b.program, root: decl, calls: b.calls}
	rest := 0
	if decl.Recv != nil && len(args) > 0 {
		to.take(decl.Recv, shares[:1], indexes[:1])
		rest = 1
	}
	to.take(decl.Type.Params, shares[rest:], indexes[rest:])
	to.check()
	s := to.returned(decl)
	b.calls.seen[key] = s
	return s
}

// returned returns what the results of a function are.
func (b *body) returned(decl *ast.FuncDecl) (s share) {
	ast.Inspect(decl.Body, func(at ast.Node) bool {
		if _, ok := at.(*ast.FuncLit); ok {
			return false
		}
		if r, ok := at.(*ast.ReturnStmt); ok {
			for _, e := range r.Results {
				s = max(s, b.behindShare(e))
			}
		}
		return true
	})
	return s
}

// valueShare returns who reaches what an argument gives to a function: also the receiver of a method with a pointer receiver, of which the
// address is taken.
func (b *body) valueShare(arg ast.Expr) share {
	if sel, ok := b.parents[arg].(*ast.SelectorExpr); ok && sel.X == arg && b.takesAddress(sel) {
		return b.placeShare(arg)
	}
	return b.behindShare(arg)
}

// placeShare returns who reaches the place of an expression.
func (b *body) placeShare(e ast.Expr) share {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := b.variable(e); v != nil && b.root.Pos() <= v.Pos() && v.Pos() < b.root.End() {
			return fresh
		}
		return common
	case *ast.SelectorExpr:
		if is[*types.Pointer](b.typeOf(e.X)) {
			return b.behindShare(e.X)
		}
		return b.placeShare(e.X)
	case *ast.IndexExpr:
		t := b.typeOf(e.X)
		s := common
		if is[*types.Array](t) {
			s = b.placeShare(e.X)
		} else {
			s = b.behindShare(e.X)
		}
		if s == common && !is[*types.Map](t) && b.isIndex(e.Index) {
			return own
		}
		return s
	case *ast.StarExpr:
		return b.behindShare(e.X)
	case *ast.CompositeLit:
		return fresh
	case *ast.CallExpr:
		return b.behindShare(e)
	}
	return common
}

// behindShare returns who reaches the memory that a value refers to.
func (b *body) behindShare(e ast.Expr) share {
	e = ast.Unparen(e)
	if t := b.typeOf(e); !shares(t) || b.TypesInfo.Types[e].IsNil() {
		return fresh
	}
	switch e := e.(type) {
	case *ast.Ident:
		return b.variableShare(b.variable(e))
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
				return b.behindShare(lit)
			}
			return b.placeShare(e.X)
		}
		return common
	case *ast.SelectorExpr:
		if s := b.placeShare(e); s != fresh {
			return s
		}
		return b.behindShare(e.X)
	case *ast.IndexExpr:
		if s := b.placeShare(e); s != fresh {
			return s
		}
		return b.behindShare(e.X)
	case *ast.StarExpr:
		return b.behindShare(e.X)
	case *ast.SliceExpr:
		return b.sliceShare(e)
	case *ast.TypeAssertExpr:
		return b.behindShare(e.X)
	case *ast.CompositeLit:
		s := fresh
		for _, part := range partsOf(e) {
			s = max(s, b.behindShare(part))
		}
		return s
	case *ast.FuncLit:
		return fresh
	case *ast.CallExpr:
		return b.callShare(e)
	}
	return common
}

func (b *body) sliceShare(e *ast.SliceExpr) share {
	s := common
	if is[*types.Array](b.typeOf(e.X)) {
		s = b.placeShare(e.X)
	} else {
		s = b.behindShare(e.X)
	}
	if s == common && b.isWindow(e.Low, e.High) {
		return own
	}
	return s
}

func (b *body) callShare(call *ast.CallExpr) (s share) {
	switch b.builtin(call) {
	case "make", "new":
		return fresh
	case "append":
		return b.behindShare(call.Args[0])
	}
	if b.isConversion(call) {
		return b.behindShare(call.Args[0])
	}
	fn := b.namedFunc(call.Fun)
	if fn == nil {
		return common // a value, which may return anything
	}
	if fn.Pkg() == b.Pkg && !isMethodOfInterface(fn) {
		return b.enter(call, fn)
	}
	if fn.Pkg() != nil && isStandard(fn.Pkg().Path()) && (strings.HasPrefix(fn.Name(), "Clone") || fn.Name() == "Concat" || fn.Name() == "Collect") {
		return fresh
	}
	for _, arg := range b.arguments(call) {
		s = max(s, b.valueShare(arg))
	}
	return s
}

// variableShare follows a variable of the body to its values.
func (b *body) variableShare(v *types.Var) (s share) {
	if v == nil {
		return common
	}
	if known, ok := b.params[v]; ok {
		s = known
	} else if v.Pos() < b.root.Pos() || v.Pos() >= b.root.End() {
		return common // captured, or of the package
	} else if len(b.values[v]) == 0 && !b.isZero(v) {
		return common // a parameter of a literal
	}
	for one := range b.follow(v) {
		switch {
		case one.expr != nil:
			s = max(s, b.behindShare(one.expr))
		case one.element != nil:
			s = max(s, b.elementShare(one.element))
		}
	}
	return s
}

// elementShare returns who reaches the memory that the elements of a list refer to.
func (b *body) elementShare(list ast.Expr) share {
	if is[*types.Array](b.typeOf(list)) {
		return max(b.placeShare(list), b.behindShare(list))
	}
	return b.behindShare(list)
}

// isZero reports whether a variable is declared without a value.
func (b *body) isZero(v *types.Var) bool {
	return contains(b.root, func(at ast.Node) bool {
		spec, ok := at.(*ast.ValueSpec)
		return ok && slices.ContainsFunc(spec.Names, func(name *ast.Ident) bool { return b.TypesInfo.Defs[name] == v })
	})
}

// isWide reports whether an integer has room for the indexes of all elements.
func (b *body) isWide(e ast.Expr) bool {
	t, ok := b.typeOf(e).Underlying().(*types.Basic)
	return ok && t.Info()&types.IsInteger != 0 && !slices.Contains([]types.BasicKind{types.Int8, types.Uint8, types.Int16, types.Uint16}, t.Kind())
}

// isIndex reports whether an expression is the index of the element.
func (b *body) isIndex(e ast.Expr) bool {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && b.isConversion(call) && len(call.Args) == 1 {
		return b.isWide(call) && b.isIndex(call.Args[0])
	}
	v := b.variable(e)
	if v == nil || contains(b.root, func(at ast.Node) bool {
		return slices.ContainsFunc(assigned(at), func(e ast.Expr) bool { return e != nil && b.variable(e) == v })
	}) {
		return false
	}
	if b.index[v] {
		return true
	}
	values := b.values[v]
	return len(values) == 1 && values[0].expr != nil && v.Pos() >= b.root.Pos() && v.Pos() < b.root.End() && b.isIndex(values[0].expr)
}

// isWindow reports whether bounds are those of the part of a list that is the element's: i*n and (i+1)*n, or i*n+n.
func (b *body) isWindow(low, high ast.Expr) bool {
	product, ok := ast.Unparen(low).(*ast.BinaryExpr)
	if low == nil || high == nil || !ok || product.Op != token.MUL || !b.isIndex(product.X) {
		return false
	}
	i, n := types.ExprString(product.X), types.ExprString(product.Y)
	text := strings.ReplaceAll(types.ExprString(high), " ", "")
	i, n = strings.ReplaceAll(i, " ", ""), strings.ReplaceAll(n, " ", "")
	return text == "("+i+"+1)*"+n || text == i+"*"+n+"+"+n
}
