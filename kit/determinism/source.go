package determinism

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"math/bits"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// A source is the code of the package under analysis, and answers what its syntax and types tell.
type source struct {
	*analysis.Pass
	files   []*ast.File // without tests
	parents map[ast.Node]ast.Node
	values  map[*types.Var][]value      // of the variables of functions, without parameters
	funcs   map[*types.Var]*ast.FuncLit // function literals that are assigned to variables
	fields  map[*types.Var][]ast.Expr   // all values of fields
	partSet map[*types.Var]bool         // variables of which a part that may share memory is set, as after a copy of a struct
	busy    map[*types.Var]bool         // variables whose values are being followed
}

// newSource reads the package, without its tests.
func newSource(pass *analysis.Pass) *source {
	p := &source{
		Pass: pass, parents: map[ast.Node]ast.Node{}, values: map[*types.Var][]value{}, funcs: map[*types.Var]*ast.FuncLit{},
		fields: map[*types.Var][]ast.Expr{}, partSet: map[*types.Var]bool{}, busy: map[*types.Var]bool{},
	}
	for _, f := range pass.Files {
		if strings.HasSuffix(pass.Fset.Position(f.FileStart).Filename, "_test.go") {
			continue
		}
		p.files = append(p.files, f)
		ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
			if len(stack) > 0 {
				p.parents[n] = stack[len(stack)-1]
			}
			p.index(n)
			return true
		})
	}
	return p
}

// typeOf returns the type of an expression. It is the invalid type if there is none.
func (p *source) typeOf(e ast.Expr) types.Type {
	if t := p.TypesInfo.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

func (p *source) constant(e ast.Expr) constant.Value { return p.TypesInfo.Types[e].Value }

// variable returns the variable whose name an expression is, or nil.
func (p *source) variable(e ast.Expr) *types.Var {
	id, _ := ast.Unparen(e).(*ast.Ident)
	v, _ := p.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// nameOf returns the name in a named expression such as f, x.f or f[int], or nil.
func nameOf(e ast.Expr) *ast.Ident {
	for {
		switch f := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = f.X
		case *ast.IndexListExpr:
			e = f.X
		case *ast.SelectorExpr:
			return f.Sel
		case *ast.Ident:
			return f
		default:
			return nil
		}
	}
}

// namedFunc returns the function that an expression names, or nil.
func (p *source) namedFunc(e ast.Expr) *types.Func {
	if fn, ok := p.TypesInfo.Uses[nameOf(e)].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// standardFunc returns the name of the function that an expression calls, if it is in the package at path, or "".
func (p *source) standardFunc(e ast.Node, path string) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if fn := p.namedFunc(call.Fun); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == path && fn.Signature().Recv() == nil {
			return fn.Name()
		}
	}
	return ""
}

// builtin returns the name of the builtin function that is called, or "".
func (p *source) builtin(call *ast.CallExpr) string {
	id, _ := ast.Unparen(call.Fun).(*ast.Ident)
	if b, ok := p.TypesInfo.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

func (p *source) isConversion(call *ast.CallExpr) bool { return p.TypesInfo.Types[call.Fun].IsType() }

// is reports whether the underlying type of t is a T.
func is[T types.Type](t types.Type) bool {
	_, ok := t.Underlying().(T)
	return ok
}

// isCore reports whether the underlying type of t, or of a type that the type parameter t can stand for, is a T.
func isCore[T types.Type](t types.Type) bool {
	switch u := t.Underlying().(type) {
	case T:
		return true
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if isCore[T](e) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if isCore[T](term.Type()) {
				return true
			}
		}
	}
	return false
}

// isKind reports whether a type is a basic type with one of the properties.
func isKind(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

const floats = types.IsFloat | types.IsComplex

// sortable reports whether slices.Sort takes a type, without floats.
func sortable(t types.Type) bool { return isKind(t, types.IsOrdered) && !isKind(t, types.IsFloat) }

func deref(t types.Type) types.Type {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		return ptr.Elem()
	}
	return t
}

// byPointer reports whether a function is a method with a pointer receiver.
func byPointer(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && is[*types.Pointer](recv.Type())
}

func isMethodOfInterface(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// isLocalVar reports whether a variable belongs to one function.
func isLocalVar(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// isPlain reports whether an expression consists of names only.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isPlain(e.X)
	}
	return false
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

func contains(tree ast.Node, test func(ast.Node) bool) bool {
	for n := range ast.Preorder(tree) {
		if test(n) {
			return true
		}
	}
	return false
}

// mentions reports whether an expression of this text is in a node.
func mentions(tree ast.Node, text string) bool {
	return contains(tree, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && types.ExprString(e) == text
	})
}

// shares reports whether a copy of a value may share memory with it.
func shares(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return shares(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if shares(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// isDerived reports whether an expression selects a field that is tagged as derived.
func (p *source) isDerived(e *ast.SelectorExpr) bool {
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.FieldVal {
		return false
	}
	t := s.Recv()
	for _, i := range s.Index() {
		u, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return false
		}
		if strings.Contains(u.Tag(i), `state:"derived"`) {
			return true
		}
		t = u.Field(i).Type()
	}
	return false
}

// operand returns the expression of which another is a part: x of x.f, x[i], x[i:j] and *x, and nil for any other.
func operand(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return e.X
	case *ast.IndexExpr:
		return e.X
	case *ast.SliceExpr:
		return e.X
	case *ast.StarExpr:
		return e.X
	}
	return nil
}

// placeOf returns the variable or field that an expression changes.
func (p *source) placeOf(e ast.Expr) *types.Var {
	for ; e != nil; e = operand(e) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ := p.TypesInfo.ObjectOf(e).(*types.Var)
			return v
		case *ast.SelectorExpr:
			v, _ := p.TypesInfo.Uses[e.Sel].(*types.Var)
			return v
		}
	}
	return nil
}

// A place is a variable, or a field of any value, or its elements.
type place struct {
	v        *types.Var
	elements bool
}

// placeAt returns the place that an expression denotes.
func (p *source) placeAt(e ast.Expr) (place, bool) {
	index, elements := ast.Unparen(e).(*ast.IndexExpr)
	if elements {
		e = index.X
	}
	v := p.placeOf(e)
	if v == nil {
		return place{}, false
	}
	return place{v.Origin(), elements}, true
}

// containers yields the values of which an expression is a part, up to a pointer.
func (p *source) containers(e ast.Expr) iter.Seq[place] {
	return func(yield func(place) bool) {
		for x := operand(e); x != nil; x = operand(x) {
			if t := p.typeOf(x); !is[*types.Struct](t) && !is[*types.Array](t) {
				return
			}
			if w, ok := p.placeAt(x); ok && !yield(w) {
				return
			}
		}
	}
}

// isBehind reports whether the place of an expression is behind a pointer, slice or map.
func (p *source) isBehind(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		return is[*types.Pointer](p.typeOf(e.X)) || p.isBehind(e.X)
	case *ast.IndexExpr:
		return !is[*types.Array](p.typeOf(e.X)) || p.isBehind(e.X)
	}
	return false
}

// rootOf returns the expression that a place is a part of, or nil if the part is derived.
func (p *source) rootOf(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		x := operand(e)
		switch u := e.(type) {
		case *ast.SelectorExpr:
			if p.isDerived(u) {
				return nil
			}
		case *ast.TypeAssertExpr:
			x = u.X
		case *ast.UnaryExpr:
			if u.Op == token.AND {
				x = u.X
			}
		}
		if x == nil {
			return e
		}
		e = x
	}
}

// partOf returns the variable of whose value an expression is a part, or nil if it is the whole.
func (p *source) partOf(e ast.Expr) *types.Var {
	x := operand(e)
	if x == nil {
		return nil
	}
	for operand(x) != nil {
		x = operand(x)
	}
	return p.variable(x)
}

// assigned returns the expressions to which a statement assigns, without new variables. Some may be nil.
func assigned(at ast.Node) []ast.Expr {
	switch at := at.(type) {
	case *ast.AssignStmt:
		if at.Tok != token.DEFINE {
			return at.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{at.X}
	case *ast.RangeStmt:
		if at.Tok == token.ASSIGN {
			return []ast.Expr{at.Key, at.Value}
		}
	}
	return nil
}

// A value is assigned to a local variable somewhere.
type value struct {
	expr    ast.Expr // nil if it is unknown
	element ast.Expr // the list of which it is an element; expr is nil then
	shrinks int      // bits that "x /= 1<<k" and "x >>= k" remove; expr is nil then
}

// follow yields the values of a local variable, and none while it is followed already: values may go in circles.
func (p *source) follow(v *types.Var) iter.Seq[value] {
	return func(yield func(value) bool) {
		if p.busy[v] {
			return
		}
		p.busy[v] = true
		defer delete(p.busy, v)
		for _, one := range p.values[v] {
			if !yield(one) {
				return
			}
		}
	}
}

func (p *source) setValue(left ast.Expr, v value) {
	if o := p.variable(left); o != nil && isLocalVar(o) {
		p.values[o] = append(p.values[o], v)
	}
}

// index notes the values that a syntax node gives to variables and fields.
func (p *source) index(n ast.Node) {
	for _, e := range assigned(n) {
		if e != nil && !p.isBehind(e) && shares(p.typeOf(e)) {
			p.partSet[p.partOf(e)] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			switch {
			case len(n.Lhs) != len(n.Rhs):
				p.setValue(left, value{})
			case n.Tok == token.DEFINE || n.Tok == token.ASSIGN:
				p.setValue(left, value{expr: n.Rhs[i]})
				p.setFunc(left, n.Rhs[i])
			default:
				p.noteOperation(n)
			}
		}
	case *ast.CompositeLit:
		p.setFields(n)
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
func (p *source) noteOperation(n *ast.AssignStmt) {
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

// setFunc notes the assignment of a function to a variable or a field.
func (p *source) setFunc(left, right ast.Expr) {
	switch left := ast.Unparen(left).(type) {
	case *ast.Ident:
		v := p.variable(left)
		if lit, ok := ast.Unparen(right).(*ast.FuncLit); ok && v != nil {
			p.funcs[v] = lit
		}
	case *ast.SelectorExpr:
		if v, ok := p.TypesInfo.Uses[left.Sel].(*types.Var); ok && v.IsField() {
			p.fields[v.Origin()] = append(p.fields[v.Origin()], right)
		}
	}
}

func (p *source) setFields(lit *ast.CompositeLit) {
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
			p.fields[v.Origin()] = append(p.fields[v.Origin()], e)
		}
	}
}

func (p *source) place(pos token.Pos) string {
	at := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// callOf returns the call to which a function's name belongs, or nil.
func (p *source) callOf(id *ast.Ident) *ast.CallExpr {
	at := ast.Node(id)
	for {
		switch outer := p.parents[at].(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.ParenExpr:
			at = outer
		case *ast.CallExpr:
			if outer.Fun == at {
				return outer
			}
			return nil
		default:
			return nil
		}
	}
}

func (p *source) shiftOf(e ast.Expr) int {
	if v := p.constant(e); v != nil {
		if n, ok := constant.Int64Val(constant.ToInt(v)); ok && n >= 0 && n < 64 {
			return int(n)
		}
	}
	return 0
}

// powerOfTwo returns k for 2^k, or -1.
func powerOfTwo(v constant.Value) int {
	n, ok := constant.Uint64Val(constant.ToInt(v))
	if !ok || n == 0 || n&(n-1) != 0 {
		return -1
	}
	return bits.TrailingZeros64(n)
}
