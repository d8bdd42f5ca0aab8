package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
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
	*program
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

func newLoop(p *program, stmt *ast.RangeStmt) *loop {
	l := &loop{program: p, stmt: stmt, changes: map[*types.Var]changed{}}
	if id, ok := stmt.Key.(*ast.Ident); ok && p.standardFunc(stmt.X, "maps") != "Values" {
		l.key = p.TypesInfo.ObjectOf(id)
	}
	if id, ok := stmt.Value.(*ast.Ident); ok {
		l.value = p.TypesInfo.ObjectOf(id)
	}
	return l
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

// set examines the assignment "left = right".
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
