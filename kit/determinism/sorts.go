package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// unstable has the sorts that leave the order of equal elements undefined, and their stable counterparts.
var unstable = map[string]map[string]string{
	"slices": {"SortFunc": "SortStableFunc", "SortedFunc": "SortedStableFunc"},
	"sort":   {"Slice": "SliceStable", "Sort": "Stable"},
}

func (p *program) sorted(n *node, call *ast.CallExpr) {
	for path, twins := range unstable {
		name := p.standardFunc(call, path)
		twin := twins[name]
		switch {
		case twin == "", name == "Sort" && p.isTotalSorter(call.Args[0]), name != "Sort" && len(call.Args) == 2 && p.totalCompare(call.Args[1]):
			continue
		}
		id := nameOf(call.Fun)
		n.report("sort", call, path+"."+name+" with a comparison that may treat different elements as equal", analysis.SuggestedFix{
			Message:   "sort stably",
			TextEdits: []analysis.TextEdit{{Pos: id.Pos(), End: id.End(), NewText: []byte(twin)}},
		})
	}
}

// isTotalSorter reports whether a sort.Interface compares whole elements, or has a total Less.
func (p *graph) isTotalSorter(e ast.Expr) bool {
	t, ok := types.Unalias(p.typeOf(e)).(*types.Named)
	if !ok || t.Obj().Pkg() == nil {
		return false
	}
	if t.Obj().Pkg().Path() == "sort" {
		return t.Obj().Name() == "IntSlice" || t.Obj().Name() == "StringSlice"
	}
	for m := range t.Methods() {
		if m.Name() != "Less" {
			continue
		}
		if n := p.objects[m.Origin()]; n != nil && len(n.bodies) == 1 {
			fn := n.bodies[0].(*ast.FuncDecl)
			return p.isTotalFunc(fn.Type, fn.Body)
		}
	}
	return false
}

// totalCompare reports whether a comparison tells all elements apart: it compares them whole, all fields, or a field named as unique.
func (p *graph) totalCompare(e ast.Expr) bool {
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		return p.isTotalFunc(lit.Type, lit.Body)
	}
	fn := p.namedFunc(e)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if path := fn.Pkg().Path(); path == "cmp" || path == "strings" || path == "bytes" {
		return fn.Name() == "Compare"
	}
	if n := p.objects[fn]; n != nil && len(n.bodies) == 1 {
		decl := n.bodies[0].(*ast.FuncDecl)
		return p.isTotalFunc(decl.Type, decl.Body)
	}
	return false
}

// isTotalFunc reports the same of a function's body and its two parameters.
func (p *graph) isTotalFunc(ft *ast.FuncType, body *ast.BlockStmt) bool {
	var params []*ast.Ident
	for _, f := range ft.Params.List {
		params = append(params, f.Names...)
	}
	if len(params) != 2 {
		return false
	}
	a, b := p.TypesInfo.Defs[params[0]], p.TypesInfo.Defs[params[1]]
	if a == nil || b == nil {
		return false
	}
	paths := map[string]types.Type{}
	for n := range ast.Preorder(body) {
		x, y := p.compared(n)
		if x == nil || y == nil {
			continue
		}
		left, leftOf := p.pathOf(x, a, b)
		right, rightOf := p.pathOf(y, a, b)
		if left == right && leftOf != nil && rightOf != nil && leftOf != rightOf {
			paths[left] = p.typeOf(x)
		}
	}
	for path, t := range paths {
		if path == "" && sortable(t) || isUnique(path[strings.LastIndex(path, ".")+1:]) {
			return true
		}
	}
	return coversAll(a.Type(), paths)
}

func (p *source) compared(n ast.Node) (x, y ast.Expr) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LSS, token.GTR, token.LEQ, token.GEQ, token.SUB:
			return n.X, n.Y
		}
	case *ast.CallExpr:
		id := nameOf(n.Fun)
		if id == nil || id.Name != "Compare" && id.Name != "Cmp" {
			return nil, nil
		}
		if len(n.Args) == 2 {
			return n.Args[0], n.Args[1]
		}
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 1 {
			return sel.X, n.Args[0]
		}
	}
	return nil, nil
}

// pathOf returns the path from a parameter to its part, as ".ID" for "a.ID", and the parameter. "list[i]" stands for the element.
func (p *source) pathOf(e ast.Expr, a, b types.Object) (string, types.Object) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := p.TypesInfo.Uses[e]; o == a || o == b {
			return "", o
		}
	case *ast.SelectorExpr:
		path, of := p.pathOf(e.X, a, b)
		return path + "." + e.Sel.Name, of
	case *ast.IndexExpr:
		path, of := p.pathOf(e.Index, a, b)
		if path == "" && isPlain(e.X) {
			return "", of
		}
	case *ast.CallExpr:
		if p.isConversion(e) && len(e.Args) == 1 && p.widens(e) {
			return p.pathOf(e.Args[0], a, b)
		}
	}
	return "?", nil
}

// widens reports whether a conversion between integers loses nothing.
func (p *source) widens(call *ast.CallExpr) bool {
	to, from := p.typeOf(call), p.typeOf(call.Args[0])
	if !sortable(to) || !sortable(from) {
		return false
	}
	return p.TypesSizes.Sizeof(to) >= p.TypesSizes.Sizeof(from)
}

// isUnique reports whether the name of a field suggests that it is unique.
func isUnique(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "id", "index", "sequence", "seq", "key":
		return true
	default:
		return strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Index")
	}
}

// coversAll reports whether paths name all fields of a struct.
func coversAll(t types.Type, paths map[string]types.Type) bool {
	s, ok := deref(t).Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 {
		return false
	}
	for f := range s.Fields() {
		if part, ok := paths["."+f.Name()]; !ok || !sortable(part) {
			return false
		}
	}
	return true
}

// iterators has the functions of package maps that yield a map's elements in its order.
var iterators = map[string]bool{"Keys": true, "Values": true, "All": true}

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
	n.report("maprange", call, types.ExprString(call)+" is not sorted right away")
}

// sortedAfterwards reports whether a value is assigned to a variable and sorted before any other use.
func (p *graph) sortedAfterwards(e ast.Expr) bool {
	assign, ok := p.parents[e].(*ast.AssignStmt)
	return ok && len(assign.Lhs) == 1 && p.sortedNext(assign, types.ExprString(assign.Lhs[0]))
}

// sortedNext reports whether the first statement after one that mentions a list sorts it.
func (p *graph) sortedNext(after ast.Stmt, list string) bool {
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
func (p *source) following(s ast.Stmt) []ast.Stmt {
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
func (p *graph) sorts(e ast.Expr, list string) bool {
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
