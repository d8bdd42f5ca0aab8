package determinism

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// iterators has the functions of package maps that yield a map's elements in its order.
var iterators = map[string]bool{"Keys": true, "Values": true, "All": true}

// isIterator reports whether an expression calls one of them.
func (p *program) isIterator(e ast.Expr) bool {
	return iterators[p.standardFunc(e, "maps")]
}

// mapsCall examines the use of a function of package maps.
func (p *program) mapsCall(n *node, id *ast.Ident, name string) {
	if !iterators[name] {
		return
	}
	call := p.callOf(id)
	if call == nil {
		n.report("maprange", id, "maps."+name+" as a value")
		return
	}
	switch outer := p.parents[call].(type) {
	case *ast.RangeStmt:
		if outer.X == ast.Expr(call) {
			return // looked at as a loop
		}
	case *ast.CallExpr:
		switch p.standardFunc(outer, "slices") {
		case "Sorted", "SortedFunc": // a comparison that is not total is found as a sort
			return
		case "SortedStableFunc":
			if len(outer.Args) == 2 && p.totalCompare(outer.Args[1]) {
				return
			}
		case "Collect", "AppendSeq":
			if p.sortedAfterwards(outer) {
				return
			}
		}
		switch p.standardFunc(outer, "maps") {
		case "Collect", "Insert":
			return
		}
	}
	n.report("maprange", call, types.ExprString(call)+" is not sorted at once")
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

// sortedAfterwards reports whether the value of an expression is assigned to a variable and sorted before any other
// use.
func (p *program) sortedAfterwards(e ast.Expr) bool {
	assign, ok := p.parents[e].(*ast.AssignStmt)
	return ok && len(assign.Lhs) == 1 && p.sortedNext(assign, types.ExprString(assign.Lhs[0]))
}

// sortedNext reports whether the first statement after one that mentions a list sorts it.
func (p *program) sortedNext(after ast.Stmt, list string) bool {
	for _, s := range p.following(after) {
		if !mentions(s, list) {
			continue
		}
		e, ok := s.(*ast.ExprStmt)
		return ok && p.sorts(e.X, list)
	}
	return false
}

// following returns the statements after s in its block.
func (p *program) following(s ast.Stmt) []ast.Stmt {
	var list []ast.Stmt
	switch b := p.parents[s].(type) {
	case *ast.BlockStmt:
		list = b.List
	case *ast.CaseClause:
		list = b.Body
	case *ast.LabeledStmt:
		return p.following(b)
	}
	for i := range list {
		if list[i] == s {
			return list[i+1:]
		}
	}
	return nil
}

// sorts reports whether a call sorts a list into an order that does not depend on the old one.
func (p *program) sorts(e ast.Expr, list string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !mentions(call.Args[0], list) {
		return false
	}
	switch p.standardFunc(call, "slices") {
	case "Sort", "SortFunc": // what is not total is found as a sort
		return true
	case "SortStableFunc":
		return len(call.Args) == 2 && p.totalCompare(call.Args[1])
	}
	switch p.standardFunc(call, "sort") {
	case "Strings", "Ints", "Slice", "Sort":
		return true
	case "SliceStable":
		return len(call.Args) == 2 && p.totalCompare(call.Args[1])
	}
	return false
}

// mapLoop examines a loop over a map, or over an iterator of one.
func (p *program) mapLoop(n *node, loop *ast.RangeStmt) {
	l := newLoop(p, loop)
	if why := l.reaches(); why != nil {
		what := "the loop over " + types.ExprString(loop.X)
		if why != ast.Node(loop) {
			what += " depends on the order (" + p.place(why.Pos()) + ")"
		}
		n.issues = append(n.issues, issue{rule: "maprange", pos: loop.Pos(), end: loop.Body.Lbrace, what: what, fixes: p.sortedKeys(loop)})
	}
}

// sortedKeys suggests to range over the sorted keys, if the file has the necessary imports.
func (p *program) sortedKeys(loop *ast.RangeStmt) []analysis.SuggestedFix {
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
func (p *program) hasImports(n ast.Node, paths ...string) bool {
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
