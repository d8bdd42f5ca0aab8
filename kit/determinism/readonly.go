package determinism

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
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

// findMutations finds what each function changes behind its parameters, itself or by its calls.
func (p *program) findMutations() {
	p.accesses = map[*node]*access{}
	for _, n := range p.nodes {
		if a := p.newAccess(n); a != nil {
			p.accesses[n] = a
		}
	}
	for again := true; again; {
		again = false
		for _, n := range p.nodes {
			if a := p.accesses[n]; a != nil {
				before, returned, sharings := a.changed, a.returned, a.shared()
				p.mutate(n, a)
				p.noteSharings(n, a)
				again = again || a.changed != before || a.returned != returned || a.shared() != sharings
			}
		}
	}
}

// newAccess returns the access of a function with a body, or nil.
func (p *program) newAccess(n *node) *access {
	if len(n.bodies) != 1 {
		return nil
	}
	a := &access{index: map[*types.Var]params{}}
	switch f := n.bodies[0].(type) {
	case *ast.FuncDecl:
		at := 0
		if f.Recv != nil {
			at = a.take(p, f.Recv, 0)
		}
		a.take(p, f.Type.Params, at)
	case *ast.FuncLit:
		a.take(p, f.Type.Params, 0)
	default:
		return nil
	}
	return a
}

// take numbers the parameters of a list from a number on, and returns the next number.
func (a *access) take(p *program, list *ast.FieldList, at int) int {
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

// mutate notes the changes of a node, with what is known of other functions so far.
func (p *program) mutate(n *node, a *access) {
	a.changes = a.changes[:0]
	for at := range ast.Preorder(n.bodies[0]) {
		for _, e := range assigned(at) {
			if e != nil {
				p.noteChange(a, e, at, types.ExprString(e)+" is changed")
			}
		}
		switch at := at.(type) {
		case *ast.CallExpr:
			p.calledWith(a, at)
		case *ast.ReturnStmt:
			for _, e := range at.Results {
				if shares(p.typeOf(e)) {
					a.returned |= p.behind(a, e, nil)
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
func (p *program) noteChange(a *access, e ast.Expr, at ast.Node, what string) {
	if p.isBehind(e) {
		a.note(p.behind(a, e, nil), at, what)
	}
}

// isBehind reports whether the place of an expression is behind a pointer, slice or map.
func (p *program) isBehind(e ast.Expr) bool {
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

// behind returns the parameters with which an expression may share memory, except by derived fields, which are not in the state.
func (p *program) behind(a *access, e ast.Expr, seen []*types.Var) params {
	switch e := p.rootOf(e).(type) {
	case *ast.Ident:
		return p.behindVar(a, p.variable(e), seen)
	case *ast.CallExpr:
		return p.behindCall(a, e, seen)
	}
	return 0
}

// rootOf returns the expression that a place is a part of, or nil if the part is derived.
func (p *program) rootOf(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if p.isDerived(e) {
			return nil
		}
		return p.rootOf(e.X)
	case *ast.IndexExpr:
		return p.rootOf(e.X)
	case *ast.SliceExpr:
		return p.rootOf(e.X)
	case *ast.StarExpr:
		return p.rootOf(e.X)
	case *ast.TypeAssertExpr:
		return p.rootOf(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return p.rootOf(e.X)
		}
	}
	return ast.Unparen(e)
}

// behindVar follows a local variable to its values.
func (p *program) behindVar(a *access, v *types.Var, seen []*types.Var) (all params) {
	if v == nil || slices.Contains(seen, v) || !shares(v.Type()) {
		return 0
	}
	if i := a.index[v]; i != 0 {
		return i
	}
	seen = append(seen, v)
	for _, one := range p.values()[v] {
		if from := cmp.Or(one.element, one.expr); from != nil {
			all |= p.behind(a, from, seen)
		}
	}
	return all
}

// behindCall returns the parameters with which the result of a call may share memory.
func (p *program) behindCall(a *access, call *ast.CallExpr, seen []*types.Var) (all params) {
	if p.isConversion(call) || p.builtin(call) == "append" {
		return p.behind(a, call.Args[0], seen)
	}
	to := p.accesses[p.objects[p.namedFunc(call.Fun)]]
	if to == nil {
		return 0
	}
	for i, arg := range p.arguments(call) {
		if to.returned&(1<<i) != 0 {
			all |= p.behind(a, arg, seen)
		}
	}
	return all
}

// arguments returns the arguments of a call, the receiver first.
func (p *program) arguments(call *ast.CallExpr) []ast.Expr {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.TypesInfo.Selections[s] != nil && p.TypesInfo.Selections[s].Kind() == types.MethodVal {
		return append([]ast.Expr{s.X}, call.Args...)
	}
	return call.Args
}

// calledWith notes what a call changes behind its arguments.
func (p *program) calledWith(a *access, call *ast.CallExpr) {
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
func (p *program) noteArgument(a *access, call *ast.CallExpr, arg ast.Expr) {
	what := types.ExprString(call.Fun) + " changes " + types.ExprString(arg)
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
		arg = u.X
	} else if shares(p.typeOf(arg)) && !is[*types.Struct](p.typeOf(arg)) {
		a.note(p.behind(a, arg, nil), call, what)
		return
	}
	p.noteChange(a, arg, call, what)
}

// changesArgument reports whether a call changes what is behind its argument i.
func (p *program) changesArgument(call *ast.CallExpr, i int) bool {
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
		to := p.accesses[p.objects[fn]]
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
	p.findMutations()
	for _, f := range p.given {
		if lit, ok := ast.Unparen(f.value).(*ast.FuncLit); ok {
			p.reportChanges(f.name, p.accesses[p.literal(lit)], 0)
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
			p.reportChanges(f.name, p.accesses[p.objects[fn]], shift)
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
	a := p.accesses[n]
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
		if from := cmp.Or(one.element, one.expr); from != nil {
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
