package weave

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/seed-49bee653/samestep/desync/probe"
)

// withoutProbes reports whether a call is of a named function that has no probes: of another module, of the standard library, or
// without a body.
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

// outside gives probes to the receiver and the arguments of a call of code without probes, and to what they reach after it.
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

// builtin gives probes to what copy, clear, delete and append change.
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

// A passing is a call of code without probes, and what it is given.
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

// receiver gives a probe to the receiver of a method.
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

// argument gives a probe to an argument.
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

// keep makes an argument pass through a probe that keeps it, or the whole that it is a part of, for the one after the call.
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

// end gives a probe to what the call leaves in what was kept.
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

// refers reports whether a function that has a value of a type may change what others have too.
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

// opaque reports whether a type, or what it points to, is none of the game's.
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
