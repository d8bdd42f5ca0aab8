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

// block gives probes to a list of statements.
func (f *file) block(list []ast.Stmt) {
	for _, s := range list {
		f.statement(s)
	}
}

// statement gives probes to a statement of a list.
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

// labeled gives probes inside a labeled statement. None may stand between a label and its loop.
func (f *file) labeled(s *ast.LabeledStmt) {
	switch inner := s.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		f.compound(inner, false)
	case *ast.EmptyStmt:
	default:
		f.statement(s.Stmt)
	}
}

// compound gives probes to a statement with statements in it. first says that a probe may stand before it.
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

// communication gives probes to what a case of a select receives, and to the function literals in what it sends.
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

// after notes that a place is reached.
func (f *file) after(at token.Pos, k Kind, n ast.Node, text string) {
	f.insert(at, before, " %s", f.marker(k, n, text))
}

// branch gives probes to an if, and to what follows its else.
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

// initial gives probes to the first statement of an if, a switch or a loop, beside which none can stand.
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

// ranges adds probes to a loop. They record each element.
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

// ordered makes a loop over a map one that two runs can do in the same order.
func (f *file) ordered(e ast.Expr) {
	if t := f.info.TypeOf(e); t != nil && (f.goes == "" || version.Compare(f.goes, "go1.23") >= 0) {
		if _, ok := t.Underlying().(*types.Map); ok {
			f.insert(e.Pos(), opening, "%s.Ordered(", probeName)
			f.insert(e.End(), closing, ")")
		}
	}
}

// cases gives probes to the cases of a switch. tests says that they are conditions.
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

// returns gives probes to a return and its values.
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
