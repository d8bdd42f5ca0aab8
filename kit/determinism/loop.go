package determinism

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// A change is the way in which a loop changes something that outlives it.
type change int

// The changes whose result does not depend on the order of elements, if all changes of one variable are the same.
const (
	changeSum     change = iota + 1 // x += n, x |= n, x++: integers, where the order does not matter
	changeMax                       // x = max(x, n)
	changeMin                       // x = min(x, n)
	changeConst                     // x = true
	changeKeyed                     // x[k] = n: another element each time
	changeDelete                    // delete(x, k)
	changeCollect                   // x = append(x, n), sorted right after the loop
)

// commutative has the operations of changeSum. All changes of one variable must be of one group.
var commutative = map[token.Token]string{
	token.ADD_ASSIGN: "+", token.SUB_ASSIGN: "+", token.INC: "+", token.DEC: "+",
	token.OR_ASSIGN: "|", token.AND_ASSIGN: "&", token.AND_NOT_ASSIGN: "&", token.XOR_ASSIGN: "^", token.MUL_ASSIGN: "*",
}

// A loop is a loop over a map, whose order must not matter.
type loop struct {
	*graph
	stmt    *ast.RangeStmt
	key     types.Object
	value   types.Object
	changes map[*types.Var]changed
	exits   []ast.Stmt // break and return
	depth   int        // of loops and switches inside, which break leaves
	bad     ast.Node   // the first thing that depends on the order
}

type changed struct {
	kind  change
	group string // of a sum; the constant of changeConst
}

func newLoop(p *graph, stmt *ast.RangeStmt) *loop {
	l := &loop{graph: p, stmt: stmt, changes: map[*types.Var]changed{}}
	if id, ok := stmt.Key.(*ast.Ident); ok && p.standardFunc(stmt.X, "maps") != "Values" {
		l.key = p.TypesInfo.ObjectOf(id)
	}
	if id, ok := stmt.Value.(*ast.Ident); ok {
		l.value = p.TypesInfo.ObjectOf(id)
	}
	return l
}

// mapLoop examines a loop over a map, or over an iterator of one.
func (p *program) mapLoop(n *node, loop *ast.RangeStmt) {
	l := newLoop(p.graph, loop)
	if why := l.reaches(); why != nil {
		what := "the loop over " + types.ExprString(loop.X)
		if why != ast.Node(loop) {
			what += " depends on the iteration order (" + p.place(why.Pos()) + ")"
		}
		n.issues = append(n.issues, issue{rule: "maprange", pos: loop.Pos(), end: loop.Body.Lbrace, what: what, fixes: p.sortedKeys(loop)})
	}
}

// sortedKeys suggests to range over the sorted keys, if the file has the necessary imports.
func (p *source) sortedKeys(loop *ast.RangeStmt) []analysis.SuggestedFix {
	m, ok := p.typeOf(loop.X).Underlying().(*types.Map)
	if !ok || loop.Tok != token.DEFINE || !sortable(m.Key()) || !p.hasImports(loop, "maps", "slices") {
		return nil
	}
	key, ok := loop.Key.(*ast.Ident)
	if !ok || key.Name == "_" || !isPlain(loop.X) {
		return nil
	}
	text := "for _, " + key.Name + " := range slices.Sorted(maps.Keys(" + types.ExprString(loop.X) + ")) {"
	if v, ok := loop.Value.(*ast.Ident); ok && v.Name != "_" {
		text += "\n" + v.Name + " := " + types.ExprString(loop.X) + "[" + key.Name + "]"
	}
	return []analysis.SuggestedFix{{
		Message:   "range over the sorted keys",
		TextEdits: []analysis.TextEdit{{Pos: loop.Pos(), End: loop.Body.Lbrace + 1, NewText: []byte(text)}},
	}}
}

// hasImports reports whether the file of a node imports packages by their own names.
func (p *source) hasImports(n ast.Node, paths ...string) bool {
	found := 0
	for _, f := range p.files {
		if n.Pos() < f.FileStart || n.Pos() > f.FileEnd {
			continue
		}
		for _, spec := range f.Imports {
			for _, path := range paths {
				if spec.Name == nil && spec.Path.Value == `"`+path+`"` {
					found++
				}
			}
		}
	}
	return found == len(paths)
}

// reaches returns the first node in the loop that depends on the order, or nil.
func (l *loop) reaches() ast.Node {
	if l.stmt.Tok == token.ASSIGN {
		return l.stmt // the last key stays in the variable
	}
	l.list(l.stmt.Body.List)
	if l.bad == nil {
		l.readsChanged()
	}
	if l.bad == nil && len(l.exits) > 0 {
		l.leaves()
	}
	return l.bad
}

func (l *loop) fail(n ast.Node) {
	if l.bad == nil {
		l.bad = n
	}
}

func (l *loop) list(stmts []ast.Stmt) {
	for _, s := range stmts {
		l.statement(s)
	}
}

func (l *loop) statement(s ast.Stmt) {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
	case *ast.AssignStmt:
		l.assignment(s)
	case *ast.IncDecStmt:
		l.pure(s.X)
		l.change(s, s.X, changed{changeSum, commutative[s.Tok]})
	case *ast.ExprStmt:
		l.expression(s)
	case *ast.DeclStmt:
		l.pure(s)
	case *ast.BlockStmt:
		l.list(s.List)
	case *ast.IfStmt:
		l.branch(s)
	case *ast.ForStmt:
		l.statement(s.Init)
		l.pureExpr(s.Cond)
		l.statement(s.Post)
		l.inside(s.Body.List)
	case *ast.RangeStmt:
		l.pure(s.X)
		if s.Tok == token.ASSIGN {
			l.fail(s)
		}
		l.inside(s.Body.List)
	case *ast.SwitchStmt:
		l.statement(s.Init)
		l.pureExpr(s.Tag)
		l.inside(s.Body.List)
	case *ast.TypeSwitchStmt:
		l.statement(s.Init)
		l.pure(s.Assign)
		l.inside(s.Body.List)
	case *ast.CaseClause:
		for _, e := range s.List {
			l.pure(e)
		}
		l.list(s.Body)
	case *ast.BranchStmt:
		l.jump(s)
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			l.pure(e)
		}
		l.exits = append(l.exits, s)
	default:
		l.fail(s)
	}
}

func (l *loop) inside(stmts []ast.Stmt) {
	l.depth++
	l.list(stmts)
	l.depth--
}

func (l *loop) jump(s *ast.BranchStmt) {
	switch {
	case s.Label != nil || s.Tok == token.GOTO:
		l.fail(s)
	case s.Tok == token.BREAK && l.depth == 0:
		l.exits = append(l.exits, s)
	}
}

// branch recognizes "if n > x { x = n }".
func (l *loop) branch(s *ast.IfStmt) {
	l.statement(s.Init)
	if kind, at := extreme(s); kind != 0 && l.isInteger(at.Lhs[0]) {
		l.pure(at.Rhs[0])
		l.change(at, at.Lhs[0], changed{kind, ""})
		return
	}
	l.pure(s.Cond)
	l.list(s.Body.List)
	l.statement(s.Else)
}

// extreme returns the assignment of an if statement that keeps the greatest or the least value.
func extreme(s *ast.IfStmt) (change, *ast.AssignStmt) {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || s.Else != nil || len(s.Body.List) != 1 {
		return 0, nil
	}
	at, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || at.Tok != token.ASSIGN || len(at.Lhs) != 1 || len(at.Rhs) != 1 {
		return 0, nil
	}
	left, right := types.ExprString(cond.X), types.ExprString(cond.Y)
	kept, value := types.ExprString(at.Lhs[0]), types.ExprString(at.Rhs[0])
	greater := cond.Op == token.GTR || cond.Op == token.GEQ
	if !greater && cond.Op != token.LSS && cond.Op != token.LEQ {
		return 0, nil
	}
	switch {
	case left == value && right == kept:
	case left == kept && right == value:
		greater = !greater
	default:
		return 0, nil
	}
	if greater {
		return changeMax, at
	}
	return changeMin, at
}

func (l *loop) assignment(s *ast.AssignStmt) {
	for _, e := range s.Rhs {
		if !l.isAppend(s) {
			l.pure(e)
		}
	}
	for _, left := range s.Lhs {
		switch {
		case s.Tok == token.DEFINE || isBlank(left):
		case s.Tok != token.ASSIGN:
			if group := commutative[s.Tok]; group != "" && l.isInteger(left) {
				l.pure(left)
				l.change(s, left, changed{changeSum, group})
			} else if !l.isLocal(left) {
				l.fail(s)
			}
		case len(s.Lhs) != len(s.Rhs) || len(s.Lhs) > 1:
			if !l.isLocal(left) {
				l.fail(s)
			}
		default:
			l.set(s, left, s.Rhs[0])
		}
	}
}

func (l *loop) set(s *ast.AssignStmt, left, right ast.Expr) {
	if l.isLocal(left) {
		return
	}
	if call, ok := right.(*ast.CallExpr); ok && len(call.Args) == 2 {
		if b := l.builtin(call); (b == "max" || b == "min") && l.isInteger(left) && types.ExprString(call.Args[0]) == types.ExprString(left) {
			kind := changeMax
			if b == "min" {
				kind = changeMin
			}
			l.change(s, left, changed{kind, ""})
			return
		}
	}
	if l.isAppend(s) {
		for _, e := range right.(*ast.CallExpr).Args[1:] {
			l.pure(e)
		}
	}
	if index, ok := left.(*ast.IndexExpr); ok && l.isKey(index.Index) {
		l.pure(index.X)
		l.change(s, index.X, changed{changeKeyed, ""})
		return
	}
	if l.isAppend(s) {
		if !l.sortedNext(l.stmt, types.ExprString(left)) {
			l.fail(s)
		}
		l.change(s, left, changed{changeCollect, ""})
		return
	}
	if tv := l.TypesInfo.Types[right]; tv.Value != nil || tv.IsNil() {
		l.pure(left)
		l.change(s, left, changed{changeConst, types.ExprString(right)})
		return
	}
	l.fail(s)
}

func (l *loop) expression(s *ast.ExprStmt) {
	if call, ok := s.X.(*ast.CallExpr); ok {
		switch l.builtin(call) {
		case "delete":
			l.pure(call.Args[1])
			l.change(s, call.Args[0], changed{changeDelete, ""})
			return
		case "clear":
			l.change(s, call.Args[0], changed{changeConst, "clear"})
			return
		}
		if l.sortsElement(s, call) {
			return
		}
	}
	l.pure(s.X)
}

// pure requires that evaluating n changes nothing.
func (l *loop) pure(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			l.fail(n)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				l.fail(n)
			}
		case *ast.CallExpr:
			if !l.isPureCall(n) {
				l.fail(n)
			}
		}
		return l.bad == nil
	})
}

func (l *loop) pureExpr(e ast.Expr) {
	if e != nil {
		l.pure(e)
	}
}

func (l *loop) change(at ast.Stmt, target ast.Expr, how changed) {
	if l.isLocal(target) {
		return
	}
	v := l.placeOf(target)
	if v == nil || (how.kind == changeSum && !l.isInteger(target)) {
		l.fail(at)
		return
	}
	if before, ok := l.changes[v]; ok && before != how {
		l.fail(at)
		return
	}
	l.changes[v] = how
}

// readsChanged requires that nothing in the loop reads a changed variable, except for the change itself.
func (l *loop) readsChanged() {
	for n := range ast.Preorder(l.stmt.Body) {
		id, _ := n.(*ast.Ident)
		v, _ := l.TypesInfo.Uses[id].(*types.Var)
		if how, ok := l.changes[v]; ok && !l.isChange(id, v, how) {
			l.fail(id)
		}
	}
}

// isChange reports whether the name of a changed variable belongs to its change.
func (l *loop) isChange(id *ast.Ident, v *types.Var, how changed) bool {
	for at := ast.Node(id); at != ast.Node(l.stmt.Body); at = l.parents[at] {
		switch s := at.(type) {
		case *ast.IndexExpr:
			if how.kind == changeKeyed && l.placeOf(s.X) == v && l.isKey(s.Index) {
				return true
			}
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if s.Tok != token.DEFINE && l.placeOf(left) == v {
					return how.kind != changeSum || within(id, left)
				}
			}
		case *ast.IncDecStmt:
			return l.placeOf(s.X) == v
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && (l.builtin(call) == "delete" || l.builtin(call) == "clear") {
				return within(id, call.Args[0])
			}
			return false
		case *ast.IfStmt:
			if kind, _ := extreme(s); kind != 0 && kind == how.kind {
				return true
			}
		}
	}
	return false
}

// leaves examines loops that end early: all exits must be the same, whichever element takes them.
func (l *loop) leaves() {
	if len(l.changes) > 0 {
		for _, how := range l.changes {
			if how.kind != changeConst || len(l.changes) > 1 || len(l.exits) > 1 {
				l.fail(l.exits[0])
			}
		}
	}
	text := ""
	for i, s := range l.exits {
		exit := ""
		if r, ok := s.(*ast.ReturnStmt); ok {
			exit = "return"
			for _, e := range r.Results {
				exit += " " + types.ExprString(e)
				if l.usesInner(e) {
					l.fail(s)
				}
			}
		}
		if i > 0 && exit != text {
			l.fail(s)
		}
		text = exit
	}
}

// usesInner reports whether an expression uses a variable that the loop declares.
func (l *loop) usesInner(e ast.Expr) bool {
	return contains(e, func(n ast.Node) bool {
		id, _ := n.(*ast.Ident)
		v, ok := l.TypesInfo.Uses[id].(*types.Var)
		return ok && !v.IsField() && l.declares(v)
	})
}

// declares reports whether a variable lives no longer than one iteration.
func (l *loop) declares(o types.Object) bool {
	return l.stmt.Pos() <= o.Pos() && o.Pos() < l.stmt.Body.End()
}

// isLocal reports whether an assignment changes only variables that live no longer than one iteration.
func (l *loop) isLocal(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := l.TypesInfo.ObjectOf(e)
		return o != nil && l.declares(o)
	case *ast.SelectorExpr:
		return !is[*types.Pointer](l.typeOf(e.X)) && l.isLocal(e.X)
	case *ast.IndexExpr:
		return is[*types.Array](l.typeOf(e.X)) && l.isLocal(e.X)
	}
	return false
}

// sortsElement reports whether a call sorts the loop's value, or the element at its key, once each: the order does not matter.
func (l *loop) sortsElement(s *ast.ExprStmt, call *ast.CallExpr) bool {
	if len(call.Args) == 0 || !l.sorts(call, types.ExprString(call.Args[0])) {
		return false
	}
	for _, e := range call.Args[1:] {
		l.pure(e)
	}
	switch list := ast.Unparen(call.Args[0]).(type) {
	case *ast.Ident:
		v, ok := l.TypesInfo.ObjectOf(list).(*types.Var)
		return ok && types.Object(v) == l.value && len(l.values[v]) == 1
	case *ast.IndexExpr:
		if l.isKey(list.Index) {
			l.pure(list.X)
			l.change(s, list.X, changed{changeKeyed, ""})
			return true
		}
	}
	return false
}

// isKey reports whether an expression is the loop's key, which is different in each iteration.
func (l *loop) isKey(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && l.key != nil && l.TypesInfo.ObjectOf(id) == l.key
}

func (l *loop) isInteger(e ast.Expr) bool { return isKind(l.typeOf(e), types.IsInteger) }

// isAppend reports whether a statement is "x = append(x, …)".
func (l *loop) isAppend(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return false
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	return ok && l.builtin(call) == "append" && types.ExprString(call.Args[0]) == types.ExprString(s.Lhs[0])
}
