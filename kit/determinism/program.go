package determinism

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// A Rule is one thing that a simulation must not do.
type Rule struct {
	Name    string // as in "//samestep:allow NAME reason", and the category of a diagnostic
	Why     string // what goes wrong
	Instead string // what to write
}

// Rules returns all rules, in the order of docs/determinism-rules.md.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{"float", "floating point rounds differently between machines", "use integers or package fixed"},
	{"fixedpoint", "native arithmetic ignores the binary point of fixed-point numbers", "use the methods of the type: Mul, Div, FromInt"},
	{"statetype", "its size, address, order or rounding differs between machines", "use sized integers, bools, strings, arrays, slices and structs of them"},
	{"maprange", "the order of a map differs from run to run", "range over sorted keys, or keep a slice"},
	{"syncmap", "the order of a sync.Map differs from run to run", "keep a slice"},
	{"reflectmap", "the order of a map differs from run to run, also with reflection", "sort the entries, outside of the simulation"},
	{"sort", "an unstable sort does not define the order of equal elements", "sort stably, or compare by a unique key last"},
	{"order", "Go does not define whether a variable is read before or after a call that changes it", "make the call a statement of its own"},
	{"global", "a variable of the package is shared by all matches, and is in no snapshot", "keep it in the state"},
	{"captured", "a captured variable is shared by all matches, and is in no snapshot", "keep it in the state"},
	{"readonly", "only Step changes the state, and a match has one configuration: another machine does not make this change", "change the state in Step, and copy what changes out of the configuration"},
	{"goroutine", "the order of goroutines is undefined", "do the work in place"},
	{"channel", "the order of values from a channel is undefined", "use a slice as a queue"},
	{"select", "select picks a random case of those that are ready", "decide by the state"},
	{"atomic", "atomics are for goroutines, whose order is undefined", "use plain variables of the state"},
	{"clock", "every machine has its own time", "count ticks"},
	{"random", "every machine draws different numbers", "draw from a generator in the state, such as fixed.Rand"},
	{"outside", "files, variables, networks and settings differ between machines", "put it into the configuration or a command"},
	{"runtime", "the garbage collector, the scheduler and the platform differ between machines and runs", "decide by the state alone"},
	{"memory", "what the runtime allocates, and when that fails, differs between versions and platforms", "use len, and let a panic end the match"},
	{"pointer", "an address differs from run to run", "use an id or an index"},
	{"unsafe", "layout, byte order and addresses differ between machines", "use plain Go"},
	{"maphash", "hash/maphash has a different seed in every process", "use hash/fnv, or a hash of the state's own"},
	{"unseen", "its code cannot be seen, so it cannot be checked", "name a function directly, or allow it with the reason why it is deterministic"},
	{"allow", "an exception needs a reason, and must be necessary", "write //samestep:allow RULE reason, or delete it"},
}

func ruleNamed(name string) (Rule, bool) {
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
}

// An issue is a place where code breaks a rule.
type issue struct {
	rule     string
	pos, end token.Pos
	what     string
	origin   string // what and where, if that is in another package
	fixes    []analysis.SuggestedFix
}

// A node is anything that code can reach: a function, a package-level variable or constant with its initializer, or a
// function literal.
type node struct {
	object types.Object // nil for a literal
	bodies []ast.Node
	issues []issue
	refs   []*node
	effects
}

// A given is an expression assigned to a field of lockstep.Rules, and the node of its issues.
type given struct {
	name  string // of the field
	value ast.Expr
	node  *node
}

// A program is one package under analysis.
type program struct {
	*analysis.Pass
	all      bool        // every function is a root
	files    []*ast.File // without tests
	parents  map[ast.Node]ast.Node
	objects  map[types.Object]*node
	lits     map[*ast.FuncLit]*node
	nodes    []*node // in the order of the source
	inits    []*node
	roots    []*node
	listed   []*node // all functions of a package that is marked as a whole
	given    []given // to lockstep.Rules
	accesses map[*node]*access
	always   []issue // reported whether reached or not
	allows   []*allow
	locals   localFuncs
	assigned map[*types.Var][]value // see values
	scaling  map[*types.Var]bool    // variables whose scale is being found
	sharing  map[*types.Var]bool    // variables of which is being found what they share
	written  map[*types.Var]bool    // fields that the package writes
	partSet  map[*types.Var]bool    // local variables, see isPartSet
}

func (p *program) add(n *node) {
	if n.object != nil {
		p.objects[n.object] = n
	}
	p.nodes = append(p.nodes, n)
}

func (p *program) literal(lit *ast.FuncLit) *node {
	n := p.lits[lit]
	if n == nil {
		n = &node{bodies: []ast.Node{lit}}
		p.lits[lit] = n
		p.add(n)
	}
	return n
}

// report adds an issue of a node.
func (n *node) report(rule string, at ast.Node, what string, fixes ...analysis.SuggestedFix) {
	n.issues = append(n.issues, issue{rule: rule, pos: at.Pos(), end: at.End(), what: what, fixes: fixes})
}

// report adds an issue that counts even if nothing reaches it.
func (p *program) report(rule string, at ast.Node, what string) {
	p.always = append(p.always, issue{rule: rule, pos: at.Pos(), end: at.End(), what: what})
}

// typeOf returns the type of an expression. It is the invalid type if there is none.
func (p *program) typeOf(e ast.Expr) types.Type {
	if t := p.TypesInfo.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

func (p *program) constant(e ast.Expr) constant.Value { return p.TypesInfo.Types[e].Value }

// variable returns the variable whose name an expression is, or nil.
func (p *program) variable(e ast.Expr) *types.Var {
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
func (p *program) namedFunc(e ast.Expr) *types.Func {
	if fn, ok := p.TypesInfo.Uses[nameOf(e)].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// standardFunc returns the name of the function that an expression calls, if it is in the package at path, or "".
func (p *program) standardFunc(e ast.Node, path string) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if fn := p.namedFunc(call.Fun); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == path && fn.Signature().Recv() == nil {
			return fn.Name()
		}
	}
	return ""
}

// builtin returns the name of the builtin function that is called, or "".
func (p *program) builtin(call *ast.CallExpr) string {
	id, _ := ast.Unparen(call.Fun).(*ast.Ident)
	if b, ok := p.TypesInfo.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

func (p *program) isConversion(call *ast.CallExpr) bool { return p.TypesInfo.Types[call.Fun].IsType() }

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
func (p *program) isDerived(e *ast.SelectorExpr) bool {
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

func (p *program) place(pos token.Pos) string {
	at := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// callOf returns the call to which a function's name belongs, or nil.
func (p *program) callOf(id *ast.Ident) *ast.CallExpr {
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

// breaches is the fact that a function or variable of another package breaks rules, itself or by its calls.
type breaches struct{ List []breach }

// A breach is the first place that breaks a rule.
type breach struct{ Rule, Origin string }

func (*breaches) AFact() {}

func (c *breaches) String() string {
	s := ""
	for _, one := range c.List {
		s += one.Rule + ": " + one.Origin + "\n"
	}
	return s
}

func (p *program) imported(o types.Object) []breach {
	var c breaches
	if o == nil || o.Pkg() == nil || o.Pkg() == p.Pkg || !p.ImportObjectFact(o, &c) {
		return nil
	}
	return c.List
}

func (p *program) shiftOf(e ast.Expr) int {
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
