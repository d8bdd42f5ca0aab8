package determinism

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"math/bits"
	"slices"
	"strings"
)

// mutator is the fact that a function of another package changes what is behind some of its parameters.
type mutator struct{ Params []int } // the receiver first

func (*mutator) AFact() {}

func (m *mutator) String() string { return fmt.Sprint("mutator", m.Params) }

// A params is a set of parameters of a function, by bits. The receiver is the first one.
type params uint64

// An access is what a function does with its parameters.
type access struct {
	index    map[*types.Var]params // of the parameters
	changes  []mutation
	changed  params // those of changes
	returned params // a result may share memory with these
	sharings []sharing
}

// A mutation is a place of a function where something behind parameters changes.
type mutation struct {
	behind params
	at     ast.Node
	what   string
}

// accesses has what the functions of a package do with their parameters.
type accesses struct {
	*graph
	of map[*node]*access
}

// newAccesses finds what each function changes behind its parameters, itself or by its calls.
func newAccesses(g *graph) *accesses {
	p := &accesses{g, map[*node]*access{}}
	for _, n := range p.nodes {
		if a := p.newAccess(n); a != nil {
			p.of[n] = a
		}
	}
	for again := true; again; {
		again = false
		for _, n := range p.nodes {
			if a := p.of[n]; a != nil {
				before, returned, sharings := a.changed, a.returned, a.shared()
				p.mutate(n, a)
				again = again || a.changed != before || a.returned != returned || a.shared() != sharings
			}
		}
	}
	return p
}

// newAccess returns the access of a function with a body, or nil.
func (p *accesses) newAccess(n *node) *access {
	if len(n.bodies) != 1 {
		return nil
	}
	a := &access{index: map[*types.Var]params{}}
	switch f := n.bodies[0].(type) {
	case *ast.FuncDecl:
		at := 0
		if f.Recv != nil {
			at = a.take(p.source, f.Recv, 0)
		}
		a.take(p.source, f.Type.Params, at)
	case *ast.FuncLit:
		a.take(p.source, f.Type.Params, 0)
	default:
		return nil
	}
	return a
}

// take numbers the parameters of a list from a number on, and returns the next number.
func (a *access) take(p *source, list *ast.FieldList, at int) int {
	for _, f := range list.List {
		for _, name := range f.Names {
			if v, ok := p.TypesInfo.Defs[name].(*types.Var); ok && at < 64 {
				a.index[v] = 1 << at
			}
			at++
		}
		if len(f.Names) == 0 {
			at++
		}
	}
	return at
}

// mutate notes the changes and sharings of a node, with what is known of other functions so far.
func (p *accesses) mutate(n *node, a *access) {
	a.changes = a.changes[:0]
	for at := range ast.Preorder(n.bodies[0]) {
		for _, e := range assigned(at) {
			if e != nil {
				p.noteChange(a, e, at, types.ExprString(e)+" is changed")
			}
		}
		switch at := at.(type) {
		case *ast.AssignStmt:
			for i, left := range assigned(at) {
				if len(at.Rhs) == len(at.Lhs) && p.isBehind(left) && !p.isPartSetIn(n, left) {
					a.share(p.behind(a, left), p.memory(a, at.Rhs[i]), at,
						types.ExprString(left)+" shares memory with "+p.sourceOf(a, at.Rhs[i]))
				}
			}
		case *ast.CallExpr:
			p.calledWith(a, at)
			p.sharedByCall(a, at)
		case *ast.ReturnStmt:
			for _, e := range at.Results {
				if shares(p.typeOf(e)) {
					a.returned |= p.behind(a, e)
				}
			}
		}
	}
}

func (a *access) note(behind params, at ast.Node, what string) {
	if behind != 0 {
		a.changed |= behind
		a.changes = append(a.changes, mutation{behind, at, what})
	}
}

// noteChange notes that the place of an expression is changed, unless it is a variable of the function itself.
func (p *accesses) noteChange(a *access, e ast.Expr, at ast.Node, what string) {
	if p.isBehind(e) {
		a.note(p.behind(a, e), at, what)
	}
}

// behind returns the parameters with which an expression may share memory, except by derived fields, which are not in the state.
func (p *accesses) behind(a *access, e ast.Expr) params {
	switch e := p.rootOf(e).(type) {
	case *ast.Ident:
		return p.behindVar(a, p.variable(e))
	case *ast.CallExpr:
		return p.behindCall(a, e)
	}
	return 0
}

// behindVar follows a local variable to its values.
func (p *accesses) behindVar(a *access, v *types.Var) (all params) {
	if v == nil || !shares(v.Type()) {
		return 0
	}
	if i := a.index[v]; i != 0 {
		return i
	}
	for one := range p.follow(v) {
		if from := cmp.Or(one.element, one.expr); from != nil {
			all |= p.behind(a, from)
		}
	}
	return all
}

// behindCall returns the parameters with which the result of a call may share memory.
func (p *accesses) behindCall(a *access, call *ast.CallExpr) (all params) {
	if p.isConversion(call) || p.builtin(call) == "append" {
		return p.behind(a, call.Args[0])
	}
	to := p.of[p.objects[p.namedFunc(call.Fun)]]
	if to == nil {
		return 0
	}
	for i, arg := range p.arguments(call) {
		if to.returned&(1<<i) != 0 {
			all |= p.behind(a, arg)
		}
	}
	return all
}

// arguments returns the arguments of a call, the receiver first.
func (p *source) arguments(call *ast.CallExpr) []ast.Expr {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.TypesInfo.Selections[s] != nil && p.TypesInfo.Selections[s].Kind() == types.MethodVal {
		return append([]ast.Expr{s.X}, call.Args...)
	}
	return call.Args
}

// calledWith notes what a call changes behind its arguments.
func (p *accesses) calledWith(a *access, call *ast.CallExpr) {
	if p.isConversion(call) {
		return
	}
	args := p.arguments(call)
	for i, arg := range args {
		if p.changesArgument(call, i) {
			p.noteArgument(a, call, arg)
		}
	}
}

// noteArgument notes that a call changes what is behind an argument, unless that is the function's own variable.
func (p *accesses) noteArgument(a *access, call *ast.CallExpr, arg ast.Expr) {
	what := types.ExprString(call.Fun) + " changes " + types.ExprString(arg)
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
		arg = u.X
	} else if shares(p.typeOf(arg)) && !is[*types.Struct](p.typeOf(arg)) {
		a.note(p.behind(a, arg), call, what)
		return
	}
	p.noteChange(a, arg, call, what)
}

// changesArgument reports whether a call changes what is behind its argument i.
func (p *accesses) changesArgument(call *ast.CallExpr, i int) bool {
	switch p.builtin(call) {
	case "copy", "clear", "delete":
		return i == 0
	case "append": // list[:n] with n less than its length overwrites elements
		s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		return ok && i == 0 && s.High != nil && !s.Slice3
	case "":
	default:
		return false
	}
	fn := p.namedFunc(call.Fun)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if fn.Pkg() == p.Pkg {
		to := p.of[p.objects[fn]]
		return to != nil && to.changed&(1<<i) != 0
	}
	if isStandard(fn.Pkg().Path()) {
		return i == 0 && changesList(fn)
	}
	var m mutator
	return p.ImportObjectFact(fn, &m) && slices.Contains(m.Params, i)
}

// readOnly has the read-only parameters of the functions of lockstep.Rules.
var readOnly = map[string]params{"Assets": 1 << 0, "Load": 1 << 1, "New": 1 << 2, "Step": 1 << 1, "Derive": 1 << 1, "Validate": 1<<0 | 1<<1 | 1<<2, "refuse": 1<<0 | 1<<1}

// findReadOnly reports where the functions of a game change what they may only read.
func (p *program) findReadOnly() {
	for _, f := range p.given {
		if lit, ok := ast.Unparen(f.value).(*ast.FuncLit); ok {
			p.reportChanges(f.name, p.accesses.of[p.literal(lit)], 0)
			continue
		}
		fn := p.namedFunc(f.value)
		if fn == nil || fn.Pkg() == nil {
			continue
		}
		shift := 0
		if fn.Signature().Recv() != nil {
			shift = 1
		}
		limit := readOnly[f.name] << shift
		var m mutator
		if fn.Pkg() == p.Pkg {
			p.reportChanges(f.name, p.accesses.of[p.objects[fn]], shift)
		} else if p.ImportObjectFact(fn, &m) && slices.ContainsFunc(m.Params, func(i int) bool { return limit&(1<<i) != 0 }) {
			p.report("readonly", f.value, types.ExprString(f.value)+" changes what "+f.name+" may only read")
		}
	}
}

// reportChanges reports the changes behind read-only parameters of a function, and where the state comes to share memory with the
// configuration. The parameters are those of lockstep.Rules after shift others.
func (p *program) reportChanges(name string, a *access, shift int) {
	if a == nil {
		return
	}
	for _, c := range a.changes {
		if c.behind&(readOnly[name]<<shift) != 0 {
			p.report("readonly", c.at, c.what+" in "+name)
		}
	}
	for _, s := range a.sharings {
		if two := sharedParams[name]; s.into&(two[0]<<shift) != 0 && s.from&(two[1]<<shift) != 0 {
			p.report("readonly", s.at, s.what+" in "+name)
		}
	}
}

// exportMutation exports the parameters behind which a function changes something.
func (p *program) exportMutation(n *node) {
	a := p.accesses.of[n]
	if a == nil || a.changed == 0 {
		return
	}
	var m mutator
	for i := range 64 {
		if a.changed&(1<<i) != 0 {
			m.Params = append(m.Params, i)
		}
	}
	p.ExportObjectFact(n.object, &m)
}

// A sharing is a place of a function that lets memory behind some parameters be memory behind others.
type sharing struct {
	into, from params
	at         ast.Node
	what       string
}

// sharedParams has the parameters of functions of lockstep.Rules that must not share memory: the world, and the configuration.
var sharedParams = map[string][2]params{"New": {1 << 0, 1 << 2}, "Step": {1 << 0, 1 << 1}}

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
func (p *accesses) sharedByCall(a *access, call *ast.CallExpr) {
	to := p.of[p.objects[p.namedFunc(call.Fun)]]
	if to == nil || to == a {
		return
	}
	args := p.arguments(call)
	for _, s := range to.sharings {
		var into, from params
		for i, arg := range args {
			if s.into&(1<<i) != 0 {
				into |= p.behind(a, arg)
			}
			if s.from&(1<<i) != 0 {
				from |= p.memory(a, arg)
			}
		}
		a.share(into, from, call, types.ExprString(call.Fun)+" lets the state share memory with "+p.sourceOf(a, args...))
	}
}

// sourceOf returns the text of the first expression that shares memory with a parameter. A literal is named by its part.
func (p *accesses) sourceOf(a *access, list ...ast.Expr) string {
	for _, e := range slices.Backward(list) {
		if p.memory(a, e) == 0 {
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
func (p *accesses) memory(a *access, e ast.Expr) (all params) {
	if !sharesState(p.typeOf(e)) {
		return 0
	}
	switch e := p.rootOf(e).(type) {
	case *ast.Ident:
		return p.memoryOf(a, p.variable(e))
	case *ast.CompositeLit:
		for _, part := range partsOf(e) {
			all |= p.memory(a, part)
		}
	case *ast.CallExpr:
		if p.builtin(e) != "append" {
			return p.behindCall(a, e)
		}
		for i, arg := range e.Args {
			if list, ok := p.typeOf(arg).Underlying().(*types.Slice); i == 0 || !e.Ellipsis.IsValid() || ok && shares(list.Elem()) {
				all |= p.memory(a, arg)
			}
		}
	}
	return all
}

// memoryOf follows a local variable to its values, unless parts of it are replaced.
func (p *accesses) memoryOf(a *access, v *types.Var) (all params) {
	if v == nil || p.partSet[v] {
		return 0
	}
	if i := a.index[v]; i != 0 {
		return i
	}
	for one := range p.follow(v) {
		if from := cmp.Or(one.element, one.expr); from != nil {
			all |= p.memory(a, from)
		}
	}
	return all
}

// isPartSetIn reports whether a function sets a part of a place that may share memory, as after a copy of a struct to it.
func (p *source) isPartSetIn(n *node, whole ast.Expr) bool {
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
