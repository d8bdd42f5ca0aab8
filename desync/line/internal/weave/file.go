package weave

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/desync/probe"
)

// probeName is the name of package probe in woven files.
const probeName = "samestepProbe"

// noOwner is the owner of what is a field of no element. A game may have another nil.
const noOwner = probeName + ".None"

// A file is a source file to which probes are added.
type file struct {
	source *Source
	name   string // relative to the module
	pkg    string // import path
	src    []byte
	tok    *token.File
	info   *types.Info
	goes   string // the version of Go that the file is written in, such as "go1.26"; "" if not known
	all    []insertion
	fn     string // the function whose statements get probes
	lits   int    // function literals in it so far

	// Of the statement to which probes are added.
	whole    ast.Expr  // the call that is all of it, or all that it assigns; nil for none
	behind   token.Pos // of its end
	assigned string    // what it assigns the value of whole to; "" for several
	later    ast.Expr  // the call that it defers, or a goroutine makes
}

func (f *file) insert(at token.Pos, order int, format string, args ...any) {
	f.all = append(f.all, insertion{f.offset(at), order, fmt.Sprintf(format, args...)})
}

// site adds a probe for a node, and returns its number.
func (f *file) site(k Kind, n ast.Node, text string) int {
	line := f.tok.PositionFor(n.Pos(), false).Line
	f.source.Sites = append(f.source.Sites, Site{Func: f.fn, File: f.name, Line: line, Kind: k, Text: text, Source: f.sourceLine(line)})
	return len(f.source.Sites) - 1
}

func (f *file) last() *Site { return &f.source.Sites[len(f.source.Sites)-1] }

func (f *file) function(name string, at ast.Node, recv, params *ast.FieldList, body *ast.BlockStmt) {
	outer, outerLits := f.fn, f.lits
	f.fn, f.lits = name, 0
	var args []string
	for _, list := range []*ast.FieldList{recv, params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if id.Name != "_" {
					args = append(args, id.Name)
				}
			}
		}
	}
	text := name[strings.LastIndex(name, "/")+1:] + "(" + strings.Join(args, ", ") + ")"
	n := f.site(Enter, at, text)
	f.insert(body.Lbrace+1, before, " if %s.On { defer %s.Leave(%s.Enter(%s)) };", probeName, probeName, probeName,
		strings.Join(append([]string{strconv.Itoa(n)}, args...), ", "))
	f.block(body.List)
	f.fn, f.lits = outer, outerLits
}

// literals adds probes to the outermost function literals in a node, and to the arguments of calls.
func (f *file) literals(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.lits++
			f.function(f.fn+".func"+strconv.Itoa(f.lits), n, nil, n.Type.Params, n.Body)
			return false
		case *ast.CallExpr:
			f.arguments(n)
		}
		return true
	})
}

// arguments adds probes to the arguments of a call, so that a wrong argument is reported in the caller. A woven function records its
// own parameters, so its arguments need a probe only if they are more than a name.
func (f *file) arguments(call *ast.CallExpr) {
	t := f.info.Types[call.Fun]
	switch {
	case t.IsType():
	case t.IsBuiltin():
		f.builtin(call)
	case f.withoutProbes(call):
		f.outside(call)
	default:
		for i, a := range call.Args {
			if f.callsIn(call.Args[i+1:]) {
				continue
			}
			switch a := ast.Unparen(a).(type) {
			case *ast.UnaryExpr:
				switch a.Op {
				case token.AND:
					f.element(call, i, a.X)
				case token.ARROW:
				default:
					f.wrap(Arg, call.Args[i], f.textOf(a))
				}
			case *ast.BinaryExpr, *ast.SliceExpr:
				f.wrap(Arg, call.Args[i], f.textOf(a))
			}
		}
	}
}

// element adds a probe to an argument that is the address of a part of an element, since equal parts of two elements look the same.
// The probe's text does not name the element, so that probes of swapped arguments are partners.
func (f *file) element(call *ast.CallExpr, i int, part ast.Expr) {
	of := f.owner(part)
	if of == "" {
		of = f.index(part)
	}
	if of == "" || !f.pure(part) || hasID(f.info.TypeOf(part)) {
		return
	}
	arg := call.Args[i]
	n := f.site(Arg, arg, fmt.Sprintf("argument %d of %s", i+1, f.textOf(call.Fun)))
	f.reading(arg)
	f.insert(arg.Pos(), opening, "%s.Of(%d, ", probeName, n)
	f.insert(arg.End(), closing, ", %s)", of)
}

// exprs adds probes to the function literals in expressions.
func (f *file) exprs(list ...ast.Expr) {
	for _, e := range list {
		if e != nil {
			f.literals(e)
		}
	}
}

// wrap passes an expression through a probe. It returns false where that would change the expression's type.
func (f *file) wrap(k Kind, e ast.Expr, text string) bool {
	if !f.typed(e) {
		return false
	}
	n := f.site(k, e, text)
	f.reading(e)
	f.insert(e.Pos(), opening, "%s.V(%d, ", probeName, n)
	f.insert(e.End(), closing, ")")
	return true
}

func (f *file) mark(k Kind, at ast.Node, text string) {
	f.insert(at.Pos(), before, "%s", f.marker(k, at, text))
	if k == Call {
		f.reading(at)
	}
}

func (f *file) marker(k Kind, at ast.Node, text string) string {
	return fmt.Sprintf("if %s.On { %s.S(%d) }; ", probeName, probeName, f.site(k, at, text))
}

// withoutProbes reports whether a call is of a named function of another module or the standard library, or without a body.
func (f *file) withoutProbes(call *ast.CallExpr) bool {
	o := f.callee(call)
	if o == nil || o.Pkg() == nil {
		return false
	}
	if r := o.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
		return false // it may have a method with probes
	}
	d, ok := f.source.decls[f.source.keyOf(o.Origin())]
	if !ok {
		return true
	}
	fn, ok := d.node.(*ast.FuncDecl)
	return ok && fn.Body == nil
}

// callee returns the function or method that a call names, or nil.
func (f *file) callee(call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		o, _ := f.info.Uses[x].(*types.Func)
		return o
	case *ast.SelectorExpr:
		o, _ := f.info.Uses[x.Sel].(*types.Func)
		return o
	}
	return nil
}

// outside adds probes for a call of code without probes: to its receiver and arguments, and to what these reach after the call.
func (f *file) outside(call *ast.CallExpr) {
	c := f.passing(call)
	if x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && !f.callsIn(call.Args) {
		if s := f.info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
			c.receiver(x.X, f.callee(call))
		}
	}
	for i, a := range call.Args {
		if !f.callsIn(call.Args[i+1:]) {
			c.argument(a)
		}
	}
	c.end()
}

// builtin adds probes for what copy, clear, delete and append change.
func (f *file) builtin(call *ast.CallExpr) {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || len(call.Args) == 0 || f.callsIn(call.Args[1:]) {
		return
	}
	c := f.passing(call)
	switch id.Name {
	case "append":
		part, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		if !ok || f.whole == call && f.assigned == f.textOf(part.X) {
			return // the assignment tells the list
		}
		c.argument(part)
	case "copy", "clear":
		c.argument(call.Args[0])
	case "delete":
		c.argument(call.Args[0])
		c.argument(call.Args[1])
	}
	c.end()
}

// A passing is a call of code without probes, with its receiver and arguments.
type passing struct {
	*file
	call *ast.CallExpr
	from int  // insertions before it
	told bool // what it leaves is told
	kept int  // values that it may change
	name string
}

func (f *file) passing(call *ast.CallExpr) *passing {
	return &passing{file: f, call: call, from: len(f.all), told: f.later != call && (f.typed(call) || f.whole == call)}
}

func (c *passing) receiver(e ast.Expr, method *types.Func) {
	_, byPointer := types.Unalias(method.Signature().Recv().Type()).(*types.Pointer)
	_, isPointer := c.info.TypeOf(e).Underlying().(*types.Pointer)
	switch {
	case opaque(method.Signature().Recv().Type()):
	case !byPointer || isPointer:
		c.argument(e)
	case c.told && c.addressable(e):
		c.keep(e, "&", "")
	}
}

func (c *passing) argument(e ast.Expr) {
	if !c.typed(e) || opaque(c.info.TypeOf(e)) {
		return
	}
	if !c.told || !refers(c.info.TypeOf(e)) {
		c.wrap(Arg, e, c.textOf(e))
		return
	}
	whole := ""
	if part, ok := ast.Unparen(e).(*ast.SliceExpr); ok && c.pure(part.X) {
		whole = c.code(part.X)
		if _, list := c.info.TypeOf(part.X).Underlying().(*types.Array); list {
			whole = "&" + whole
		}
	}
	c.keep(e, "", whole)
}

// keep passes an argument through a probe that keeps it, or the variable that it is a part of, for the probe after the call.
func (c *passing) keep(e ast.Expr, sign, whole string) {
	n := c.site(Arg, e, sign+c.textOf(e))
	c.reading(e)
	if c.kept++; c.kept == 1 {
		c.name = fieldName(base(e))
	}
	if whole != "" {
		c.insert(e.Pos(), opening, "%s.K(%d, ", probeName, n)
		c.insert(e.End(), closing, ", %s)", whole)
		return
	}
	c.insert(e.Pos(), opening, "%s.A(%d, %s", probeName, n, sign)
	c.insert(e.End(), closing, ")")
}

// end adds the probe that records the kept values after the call.
func (c *passing) end() {
	if c.kept == 0 {
		return
	}
	n := c.site(Reach, c.call, c.textOf(c.call))
	c.reading(c.call)
	c.last().Name = c.name
	if c.typed(c.call) {
		begin := insertion{c.offset(c.call.Pos()), opening, fmt.Sprintf("%s.C(%d, %d, ", probeName, n, c.kept)}
		c.all = slices.Insert(c.all, c.from, begin) // before that of a receiver
		c.insert(c.call.End(), closing, ")")
		return
	}
	c.insert(c.behind, after, "; if %s.On { %s.P(%d, %d) }", probeName, probeName, n, c.kept)
}

// base returns what a part of a list, or the address of a variable, is taken of.
func base(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.SliceExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return e
		}
	}
}

// refers reports whether a function that holds a value of a type may change data that is shared with others.
func refers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	case *types.Array:
		return refers(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if refers(v.Type()) {
				return true
			}
		}
	}
	return false
}

// opaque reports whether a type, or the type that it points to, is not declared by the game.
func opaque(t types.Type) bool {
	for {
		t = types.Unalias(t)
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
			continue
		}
		n, ok := t.(*types.Named)
		return ok && n.Obj().Pkg() != nil && probe.Opaque(n.Obj().Pkg().Path(), n.Obj().Name())
	}
}

// The order of insertions at one place.
const (
	closing = iota // of an expression that ends here
	after          // a statement that ends here
	before         // a statement that begins here
	opening        // of an expression that begins here
)

// An insertion is a text to insert.
type insertion struct {
	at    int // bytes from the start of the file
	order int
	text  string
}

// inserted returns a file with insertions. They have no line ends, so every line keeps its number.
func inserted(src []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var out []byte
	done := 0
	for _, i := range all {
		out = append(append(out, src[done:i.at]...), i.text...)
		done = i.at
	}
	return append(out, src[done:]...)
}

// textOf returns the source of a node, on one line and with one space where there are more.
func (f *file) textOf(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.src[f.offset(n.Pos()):f.offset(n.End())])), " ")
}

// code returns the source of an expression, to repeat it, or "" if it spans several lines.
func (f *file) code(e ast.Expr) string {
	text := string(f.src[f.offset(e.Pos()):f.offset(e.End())])
	if strings.ContainsAny(text, "\r\n") {
		return ""
	}
	return text
}

func (f *file) offset(p token.Pos) int { return f.tok.Offset(p) }

// sourceLine returns a line of the file, without the space at its ends.
func (f *file) sourceLine(line int) string {
	lines := strings.Split(string(f.src), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// pure reports whether an expression can be evaluated again: it neither calls nor receives.
func (f *file) pure(e ast.Expr) bool {
	pure := f.code(e) != ""
	for n := range ast.Preorder(e) {
		switch n := n.(type) {
		case *ast.CallExpr:
			pure = pure && f.info.Types[n.Fun].IsType()
		case *ast.FuncLit:
			pure = false
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		}
	}
	return pure
}

// calls reports whether a node calls a function, other than a builtin and in a function literal.
func (f *file) calls(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if t := f.info.Types[c.Fun]; !t.IsType() && !t.IsBuiltin() {
				found = true
			}
		}
		_, literal := n.(*ast.FuncLit)
		return !found && !literal
	})
	return found
}

// callsIn reports whether one of several expressions calls a function or receives. Expressions before it get no probe: a probe is a
// call, and so would be evaluated in order, while the compiler reads a plain variable after the calls that follow it.
func (f *file) callsIn(list []ast.Expr) bool {
	return slices.ContainsFunc(list, func(e ast.Expr) bool {
		receives := false
		for n := range ast.Preorder(e) {
			u, ok := n.(*ast.UnaryExpr)
			receives = receives || ok && u.Op == token.ARROW
		}
		return receives || f.calls(e)
	})
}

// typed reports whether an expression keeps its type inside a generic call: it is not a constant, and its context gives it no type.
func (f *file) typed(e ast.Expr) bool {
	tv, ok := f.info.Types[e]
	if !ok || tv.Value != nil || tv.IsNil() || !tv.IsValue() || tv.Type == nil {
		return false
	}
	switch tv.Type.Underlying().(type) {
	case *types.Tuple, *types.Signature: // several values; a function, whose type may come from its place
		return false
	}
	return !f.adapts(e) || types.Identical(tv.Type, types.Typ[types.Bool]) || types.Identical(tv.Type, types.Typ[types.UntypedBool]) || types.Identical(tv.Type, types.Typ[types.Int])
}

// adapts reports whether the context determines the type of an expression: a comparison, or a shift of a constant.
func (f *file) adapts(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		case token.SHL, token.SHR:
			return f.adapts(e.X)
		}
		return f.adapts(e.X) && f.adapts(e.Y)
	case *ast.UnaryExpr:
		return f.adapts(e.X)
	}
	tv := f.info.Types[e]
	return tv.Value != nil
}

// reading records which names the latest site reads.
func (f *file) reading(n ast.Node) {
	s := f.last()
	for n := range ast.Preorder(n) {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		o := f.info.Uses[id]
		if o == nil || o.Pkg() == nil {
			continue
		}
		if v, ok := o.(*types.Var); ok && !slices.Contains(s.Reads, v.Name()) {
			s.Reads = append(s.Reads, v.Name())
		}
		if name := declName(o); o.Parent() == o.Pkg().Scope() && f.source.Decls[name] != (Decl{}) && !slices.Contains(s.Uses, name) {
			s.Uses = append(s.Uses, name)
		}
	}
}

// declName is the name of a constant or variable of a package in Source.Decls.
func declName(o types.Object) string { return o.Pkg().Path() + "." + o.Name() }

// owner returns the address of the element whose field an expression assigns, as source text; "" for none.
func (f *file) owner(e ast.Expr) string {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			t := f.info.TypeOf(x.X)
			if t == nil {
				return ""
			}
			if p, ok := t.Underlying().(*types.Pointer); ok {
				if hasID(p.Elem()) {
					return f.code(x.X)
				}
			} else if hasID(t) && f.addressable(x.X) {
				return "&" + f.code(x.X)
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			if t := f.info.TypeOf(x); t != nil && hasID(t) {
				return f.code(x.X)
			}
			return ""
		default:
			return ""
		}
	}
}

// index returns the last index in an expression; "" for none.
func (f *file) index(e ast.Expr) string {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			return f.code(x.Index)
		default:
			return ""
		}
	}
}

func (f *file) addressable(e ast.Expr) bool { return f.info.Types[e].Addressable() }

// hasID reports whether a type is a struct with an integer field ID.
func hasID(t types.Type) bool {
	u, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range u.Fields() {
		if b, ok := v.Type().Underlying().(*types.Basic); ok && strings.EqualFold(v.Name(), "ID") && b.Info()&types.IsInteger != 0 {
			return true
		}
	}
	return false
}
