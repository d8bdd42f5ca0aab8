package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
func (p *program) isTotalSorter(e ast.Expr) bool {
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
func (p *program) totalCompare(e ast.Expr) bool {
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
func (p *program) isTotalFunc(ft *ast.FuncType, body *ast.BlockStmt) bool {
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

func (p *program) compared(n ast.Node) (x, y ast.Expr) {
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
func (p *program) pathOf(e ast.Expr, a, b types.Object) (string, types.Object) {
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
func (p *program) widens(call *ast.CallExpr) bool {
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
	n.report("maprange", call, types.ExprString(call)+" is not sorted at once")
}

// sortedAfterwards reports whether a value is assigned to a variable and sorted before any other use.
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

// Go calls functions from left to right, but does not define when a variable is read if a call of the same statement
// changes it: "w.gold + w.earn()" may use the gold from before or after the call. A read is ordered if it is in the
// arguments of an earlier call or of the call itself, or on the other side of && and ||.

// A read is a value that a statement reads.
type read struct {
	at     ast.Expr
	place  place
	within []place // values that it is a part of
}

// evaluation examines the expressions that one statement evaluates together.
func (p *program) evaluation(n *node, s ast.Stmt) {
	var values, targets []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		values = s.Rhs
		if s.Tok == token.ASSIGN {
			targets = s.Lhs
		} else if s.Tok != token.DEFINE {
			values = append([]ast.Expr{s.Lhs[0]}, s.Rhs...)
		}
	case *ast.ReturnStmt:
		values = s.Results
	case *ast.ExprStmt:
		values = []ast.Expr{s.X}
	case *ast.IncDecStmt:
		values = []ast.Expr{s.X}
	case *ast.IfStmt:
		values = []ast.Expr{s.Cond}
	case *ast.ForStmt:
		values = []ast.Expr{s.Cond}
	case *ast.SwitchStmt:
		values = []ast.Expr{s.Tag}
	case *ast.RangeStmt:
		values = []ast.Expr{s.X}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				p.together(n, spec.(*ast.ValueSpec).Values, nil)
			}
		}
	}
	p.together(n, values, targets)
}

// together compares the reads of expressions with the calls in them.
func (p *program) together(n *node, values, targets []ast.Expr) {
	var calls []*ast.CallExpr
	for _, e := range append(values[:len(values):len(values)], targets...) {
		if e != nil {
			calls = append(calls, p.callsIn(e)...)
		}
	}
	if len(calls) == 0 {
		return
	}
	var reads []read
	for _, e := range values {
		if e != nil {
			reads = append(reads, p.readsOf(e)...)
		}
	}
	for _, e := range targets {
		reads = append(reads, p.readsOfTarget(e)...)
	}
	for _, c := range calls {
		changes := p.effectsOf(c)
		for _, r := range reads {
			if r.clashes(changes) && !p.isOrdered(r.at, c, calls) {
				n.report("order", r.at, types.ExprString(r.at)+" is read in one statement with "+types.ExprString(c.Fun)+"(…), which changes it")
			}
		}
	}
}

// clashes reports whether a call changes the value of a read.
func (r read) clashes(by effects) bool {
	return by.writes[r.place] || by.outer[r.place] || slices.ContainsFunc(r.within, func(w place) bool { return by.writes[w] })
}

// callsIn returns the function calls in an expression, except for those in function literals.
func (p *program) callsIn(e ast.Expr) []*ast.CallExpr {
	var calls []*ast.CallExpr
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !p.isConversion(n) && p.builtin(n) == "" {
				calls = append(calls, n)
			}
		}
		return true
	})
	return calls
}

// readsOf returns the reads of evaluating an expression.
func (p *program) readsOf(e ast.Expr) []read {
	var reads []read
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				if v, ok := p.TypesInfo.Uses[key].(*types.Var); ok && v.IsField() { // the name of a field, not its value
					reads = append(reads, p.readsOf(n.Value)...)
					return false
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND { // an address reads only what leads to it
				reads = append(reads, p.readsOfTarget(n.X)...)
				return false
			}
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && p.takesAddress(sel) {
				reads = append(reads, p.readsOfTarget(sel.X)...)
				for _, arg := range n.Args {
					reads = append(reads, p.readsOf(arg)...)
				}
				return false
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.Ident:
			expr := n.(ast.Expr)
			if w, ok := p.placeAt(expr); ok && p.isValue(expr) {
				r := read{at: expr, place: w}
				p.containers(expr, func(w place) { r.within = append(r.within, w) })
				reads = append(reads, r)
			}
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if !is[*types.Struct](p.typeOf(sel.X)) {
					reads = append(reads, p.readsOf(sel.X)...)
				} else {
					reads = append(reads, p.readsOfTarget(sel.X)...)
				}
				return false
			}
		}
		return true
	})
	return reads
}

// readsOfTarget returns the reads that locate an expression.
func (p *program) readsOfTarget(e ast.Expr) []read {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if is[*types.Struct](p.typeOf(e.X)) {
			return p.readsOfTarget(e.X)
		}
		return p.readsOf(e.X)
	case *ast.IndexExpr:
		reads := p.readsOf(e.Index)
		if t := p.typeOf(e.X); t != types.Typ[types.Invalid] && !isCore[*types.Array](t) {
			return append(reads, p.readsOf(e.X)...)
		}
		return append(reads, p.readsOfTarget(e.X)...)
	case *ast.StarExpr:
		return p.readsOf(e.X)
	case *ast.Ident:
		return nil
	default:
		return p.readsOf(e)
	}
}

// takesAddress reports whether a method is called on the address of its operand.
func (p *program) takesAddress(sel *ast.SelectorExpr) bool {
	s := p.TypesInfo.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return false
	}
	fn, ok := s.Obj().(*types.Func)
	return ok && byPointer(fn) && is[*types.Struct](p.typeOf(sel.X))
}

// isValue reports whether an expression is a variable value, not a type, package, function or constant.
func (p *program) isValue(e ast.Expr) bool {
	tv, ok := p.TypesInfo.Types[e]
	if !ok {
		if id, isID := e.(*ast.Ident); isID {
			_, isVar := p.TypesInfo.Uses[id].(*types.Var)
			return isVar
		}
		return false
	}
	return tv.IsValue() && tv.Value == nil
}

// isOrdered reports whether the language defines the order of a read and a call.
func (p *program) isOrdered(r ast.Expr, c *ast.CallExpr, calls []*ast.CallExpr) bool {
	if within(r, c) || within(c, r) {
		return true // one needs the other
	}
	for _, d := range calls {
		if within(r, d) && !within(c, d) && d.End() <= c.Pos() {
			return true // an earlier call needs it
		}
	}
	for at := ast.Node(c); at != nil; at = p.parents[at] {
		b, ok := p.parents[at].(*ast.BinaryExpr)
		if ok && (b.Op == token.LAND || b.Op == token.LOR) && within(r, b) && !within(r, at) {
			return true
		}
		if _, ok := at.(ast.Stmt); ok {
			break
		}
	}
	return false
}
