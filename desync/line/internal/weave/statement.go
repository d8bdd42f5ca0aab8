package weave

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strings"
)

func (f *file) block(list []ast.Stmt) {
	for _, s := range list {
		f.statement(s)
	}
}

func (f *file) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		f.assignment(s)
	case *ast.IncDecStmt:
		if f.calls(s) {
			f.mark(Call, s, f.textOf(s))
		}
		f.target(s, s.X, nil)
	case *ast.DeclStmt:
		f.declaration(s)
	case *ast.ExprStmt:
		if f.calls(s) {
			f.mark(Call, s, f.textOf(s))
		}
		f.whole, f.behind, f.assigned = ast.Unparen(s.X), s.End(), ""
		f.literals(s)
	case *ast.DeferStmt:
		f.mark(Call, s, f.textOf(s))
		f.later = s.Call
		f.literals(s)
	case *ast.SendStmt:
		f.mark(Call, s, f.textOf(s))
		f.wrap(Arg, s.Value, f.textOf(s.Value))
		f.literals(s)
	case *ast.GoStmt:
		f.insert(s.Pos(), before, "if %s.On { %s.Spawn(%d) }; ", probeName, probeName, f.site(Spawn, s, "go "+f.textOf(s.Call.Fun)))
		f.later = s.Call
		f.literals(s)
	case *ast.ReturnStmt:
		f.returns(s)
	case *ast.BranchStmt:
		f.mark(Branch, s, f.textOf(s))
	case *ast.LabeledStmt:
		f.labeled(s)
	default:
		f.compound(s, true)
	}
}

// labeled adds probes inside a labeled statement. No probe may stand between a label and its loop.
func (f *file) labeled(s *ast.LabeledStmt) {
	switch inner := s.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		f.compound(inner, false)
	case *ast.EmptyStmt:
	default:
		f.statement(s.Stmt)
	}
}

// compound adds probes to a statement that contains statements. first says that a probe may stand before it.
func (f *file) compound(s ast.Stmt, first bool) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		f.block(s.List)
	case *ast.IfStmt:
		if first && (s.Init != nil && f.calls(s.Init) || f.calls(s.Cond)) {
			f.mark(Call, s, "if "+f.textOf(s.Cond))
		}
		f.branch(s)
	case *ast.ForStmt:
		f.loop(s)
	case *ast.RangeStmt:
		if first && f.calls(s.X) {
			f.mark(Call, s, "range "+f.textOf(s.X))
		}
		f.ranges(s)
	case *ast.SwitchStmt:
		if first && s.Tag != nil && f.calls(s.Tag) {
			f.mark(Call, s, "switch "+f.textOf(s.Tag))
		}
		f.initial(s.Init)
		if s.Tag != nil {
			f.wrap(Test, s.Tag, f.textOf(s.Tag))
			f.exprs(s.Tag)
		}
		f.cases(s.Body, s.Tag == nil)
	case *ast.TypeSwitchStmt:
		f.initial(s.Init)
		f.literals(s.Assign)
		f.cases(s.Body, false)
	case *ast.SelectStmt:
		for i, c := range s.Body.List {
			c := c.(*ast.CommClause)
			text := "select default"
			if c.Comm != nil {
				text = "select " + f.textOf(c.Comm)
			}
			f.after(c.Colon+1, Case, c, text)
			if send, ok := c.Comm.(*ast.SendStmt); ok && !f.callsOperand(s.Body.List[i+1:]) {
				f.wrap(Arg, send.Value, f.textOf(send.Value))
			}
			f.communication(c)
			f.block(c.Body)
		}
	}
}

// communication adds probes for the value that a select case receives, and for function literals in the value that it sends.
func (f *file) communication(c *ast.CommClause) {
	switch comm := c.Comm.(type) {
	case *ast.AssignStmt:
		for _, e := range comm.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name == "_" || !f.pure(e) {
				continue
			}
			kind := Write
			if comm.Tok == token.DEFINE {
				kind = Define
			}
			n := f.site(kind, c, f.textOf(comm))
			f.last().Name, f.last().Local = fieldName(e), kind == Define || f.local(e)
			f.insert(c.Colon+1, before, " if %s.On { %s.W(%d, %s, %s) }; ", probeName, probeName, n, f.code(e), noOwner)
		}
		f.exprs(comm.Rhs...)
	case nil:
	default:
		f.literals(comm)
	}
}

// callsOperand reports whether an operand of the cases of a select calls a function or receives, as in callsIn.
func (f *file) callsOperand(cases []ast.Stmt) bool {
	return slices.ContainsFunc(cases, func(s ast.Stmt) bool {
		switch comm := s.(*ast.CommClause).Comm.(type) {
		case *ast.SendStmt:
			return f.callsIn([]ast.Expr{comm.Chan, comm.Value})
		case *ast.ExprStmt:
			return f.callsIn([]ast.Expr{ast.Unparen(comm.X).(*ast.UnaryExpr).X})
		case *ast.AssignStmt:
			return f.callsIn([]ast.Expr{ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr).X})
		}
		return false
	})
}

// after adds a probe that records that a place is reached.
func (f *file) after(at token.Pos, k Kind, n ast.Node, text string) {
	f.insert(at, before, " %s", f.marker(k, n, text))
}

// branch adds probes to an if and to its else.
func (f *file) branch(s *ast.IfStmt) {
	f.initial(s.Init)
	f.wrap(Test, s.Cond, f.textOf(s.Cond))
	f.exprs(s.Cond)
	f.block(s.Body.List)
	switch e := s.Else.(type) {
	case *ast.IfStmt:
		f.branch(e)
	case *ast.BlockStmt:
		f.block(e.List)
	}
}

// initial adds probes for the init statement of an if, a switch or a loop, next to which none can stand.
func (f *file) initial(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for i, e := range s.Rhs {
			if len(s.Lhs) == len(s.Rhs) && !f.callsIn(s.Rhs[i+1:]) && f.wrap(Define, e, f.textOf(s.Lhs[i])+" = "+f.textOf(e)) {
				f.last().Name = fieldName(s.Lhs[i])
			}
		}
		f.exprs(s.Rhs...)
	case nil:
	default:
		f.literals(s)
	}
}

func (f *file) loop(s *ast.ForStmt) {
	f.initial(s.Init)
	if s.Cond != nil {
		f.wrap(Test, s.Cond, f.textOf(s.Cond))
		f.exprs(s.Cond)
	}
	f.initial(s.Post)
	f.block(s.Body.List)
}

// ranges adds probes to a loop that record each element.
func (f *file) ranges(s *ast.RangeStmt) {
	f.exprs(s.X)
	f.ordered(s.X)
	var names []string
	for _, e := range []ast.Expr{s.Key, s.Value} {
		if id, ok := e.(*ast.Ident); e != nil && (!ok || id.Name != "_") && f.pure(e) {
			names = append(names, f.code(e))
		}
	}
	n := f.site(Range, s, "range "+f.textOf(s.X))
	f.last().Name = strings.Join(names, ", ")
	f.reading(s.X)
	text := fmt.Sprintf(" if %s.On { ", probeName)
	if len(names) == 0 {
		text += fmt.Sprintf("%s.S(%d)", probeName, n)
	}
	for i, name := range names {
		if i > 0 {
			n = f.site(Range, s, "range "+f.textOf(s.X)+", "+name)
			f.last().Name = name
			f.reading(s.X)
		}
		text += fmt.Sprintf("%s.D(%d, %s); ", probeName, n, name)
	}
	f.insert(s.Body.Lbrace+1, before, "%s };", text)
	f.block(s.Body.List)
}

// ordered rewrites a loop over a map so that all runs take the same order.
func (f *file) ordered(e ast.Expr) {
	if t := f.info.TypeOf(e); t != nil && (f.goes == "" || version.Compare(f.goes, "go1.23") >= 0) {
		if _, ok := t.Underlying().(*types.Map); ok {
			f.insert(e.Pos(), opening, "%s.Ordered(", probeName)
			f.insert(e.End(), closing, ")")
		}
	}
}

func (f *file) cases(body *ast.BlockStmt, tests bool) {
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		text := "default"
		for i, e := range c.List {
			if text = "case " + f.textOf(e); i > 0 {
				text += ", …"
			}
			if tests {
				f.wrap(Test, e, f.textOf(e))
			}
			f.exprs(e)
		}
		if len(c.Body) > 0 {
			f.after(c.Colon+1, Case, c, text)
		}
		f.block(c.Body)
	}
}

func (f *file) returns(s *ast.ReturnStmt) {
	f.mark(Return, s, f.textOf(s))
	var constants []string
	for _, e := range s.Results {
		if v := f.info.Types[e].Value; v != nil {
			constants = append(constants, v.ExactString())
		}
	}
	f.last().Const = strings.Join(constants, ", ")
	for _, e := range s.Results {
		f.reading(e)
	}
	for i, e := range s.Results {
		if _, literal := e.(*ast.FuncLit); !literal && !f.callsIn(s.Results[i+1:]) {
			f.wrap(Return, e, f.textOf(e))
		}
		f.exprs(e)
	}
}

// fieldName returns the name of the variable or field that an expression ends with.
func fieldName(e ast.Expr) string {
	if id := lastName(e); id != nil {
		return id.Name
	}
	return ""
}

// lastName returns the variable or field that an expression ends with, or nil.
func lastName(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			return x.Sel
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// local reports whether an assigned expression is a variable of a function.
func (f *file) local(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	o, ok := f.info.ObjectOf(id).(*types.Var)
	return ok && o.Pkg() != nil && o.Parent() != o.Pkg().Scope()
}

func (f *file) assignment(s *ast.AssignStmt) {
	for _, e := range s.Lhs {
		f.exprs(e)
	}
	if f.calls(s) {
		f.mark(Call, s, f.textOf(s))
	}
	for i, e := range s.Lhs {
		var value ast.Expr
		if len(s.Lhs) == len(s.Rhs) {
			value = s.Rhs[i]
		}
		if s.Tok == token.DEFINE {
			f.defined(s, e, value)
		} else {
			f.target(s, e, value)
		}
	}
	if len(s.Rhs) == 1 {
		f.whole, f.behind, f.assigned = ast.Unparen(s.Rhs[0]), s.End(), ""
		if len(s.Lhs) == 1 {
			f.assigned = f.textOf(s.Lhs[0])
		}
	}
	f.exprs(s.Rhs...)
}

// defined adds a probe for a variable that a statement defines.
func (f *file) defined(s ast.Stmt, e, value ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	n := f.site(Define, s, f.textOf(s))
	f.last().Name, f.last().Local = id.Name, true
	call := "D"
	if value != nil {
		f.reading(value)
		if _, part := ast.Unparen(value).(*ast.SliceExpr); part {
			call = "L"
		}
	}
	f.insert(s.End(), after, "; if %s.On { %s.%s(%d, %s) }", probeName, probeName, call, n, id.Name)
}

// target adds probes for an assigned variable or field, before and after; if reading it may have effects, only for the assignment.
func (f *file) target(s ast.Stmt, e, value ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	if moves(s, e) {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	if !f.pure(e) {
		f.viaPointer(s, e)
		return
	}
	n := f.site(Write, s, f.textOf(s))
	f.last().Name, f.last().Local = fieldName(e), f.local(e)
	if value != nil {
		f.reading(value)
	}
	owner := f.owner(e)
	if owner == "" {
		owner = noOwner
	}
	call := "W"
	if !f.risky(e, s) {
		call = "R"
		f.insert(s.Pos(), before, "if %s.On { %s.B(%s) }; ", probeName, probeName, f.code(e))
	}
	f.insert(s.End(), after, "; if %s.On { %s.%s(%d, %s, %s) }", probeName, probeName, call, n, f.code(e), owner)
}

// moves reports whether an assigned expression may name another variable after the statement, as in: i, list[i] = 2, 9.
func moves(s ast.Stmt, e ast.Expr) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) == 1 {
		return false
	}
	last := lastName(e)
	for n := range ast.Preorder(e) {
		if id, ok := n.(*ast.Ident); ok && id != last && slices.ContainsFunc(a.Lhs, func(l ast.Expr) bool { return fieldName(l) == id.Name }) {
			return true
		}
	}
	return false
}

// risky reports whether reading an assigned expression early could panic: a call in the statement may set its index or pointer.
func (f *file) risky(e ast.Expr, s ast.Stmt) bool {
	if !f.calls(s) {
		return false
	}
	for n := range ast.Preorder(e) {
		switch n := n.(type) {
		case *ast.IndexExpr, *ast.StarExpr:
			return true
		case *ast.SelectorExpr:
			if sel := f.info.Selections[n]; sel != nil && sel.Indirect() {
				if _, recv := ast.Unparen(n.X).(*ast.Ident); !recv {
					return true
				}
			}
		}
	}
	return false
}

// viaPointer adds a probe for a field behind a call, as in w.player(p).Kills++. It keeps the result of the call in a variable.
func (f *file) viaPointer(s ast.Stmt, e ast.Expr) {
	inner, isSelector := e.(*ast.SelectorExpr)
	if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) != 1 || !isSelector {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	p, ok := f.info.TypeOf(inner.X).Underlying().(*types.Pointer)
	call, isCall := inner.X.(*ast.CallExpr)
	if !ok || !isCall {
		f.mark(Write, s, f.textOf(s))
		f.last().Name = fieldName(e)
		return
	}
	n := f.site(Write, s, f.textOf(s))
	f.last().Name = inner.Sel.Name
	const name = "samestepOwner"
	owner := noOwner
	if hasID(p.Elem()) {
		owner = name
	}
	field := name + "." + inner.Sel.Name
	// The old value is read after the call, which is the only thing that may change it.
	f.insert(s.Pos(), before, "{ %s := ", name)
	f.insert(call.End(), closing, "; if %s.On { %s.B(%s) }; %s", probeName, probeName, field, name)
	f.insert(s.End(), after, "; if %s.On { %s.R(%d, %s, %s) } }", probeName, probeName, n, field, owner)
}

func (f *file) declaration(s *ast.DeclStmt) {
	g, ok := s.Decl.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR {
		return
	}
	if f.calls(s) {
		f.mark(Call, s, f.textOf(s))
	}
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, id := range v.Names {
			if id.Name == "_" || len(v.Values) == 0 {
				continue
			}
			n := f.site(Define, id, fmt.Sprintf("var %s", f.textOf(v)))
			f.last().Name, f.last().Local = id.Name, true
			if len(v.Values) == len(v.Names) {
				f.reading(v.Values[i])
			}
			f.insert(s.End(), after, "; if %s.On { %s.D(%d, %s) }", probeName, probeName, n, id.Name)
		}
		f.exprs(v.Values...)
	}
}
