package weave

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// probeName is the name of package probe in woven files.
const probeName = "samestepProbe"

// noOwner is the owner of what is a field of no element. A game may have another nil.
const noOwner = probeName + ".None"

// A file is a file that gets probes.
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

	// Of the statement that gets probes.
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

// function gives probes to a function.
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

// literals gives probes to the function literals in a node, but not to those inside of them, which function does; and to the
// arguments of calls.
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

// arguments gives probes to the arguments of a call: a caller that computes a wrong one is named, and not the function that gets it.
// A function with probes tells its parameters itself, so that its arguments need a probe only if they are more than a name.
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

// element gives a probe to an argument that is the address of a part of an element: equal parts of two elements look the same. Its
// text has no element, so that the probes of arguments that change places are partners.
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

// exprs gives probes to the function literals in expressions.
func (f *file) exprs(list ...ast.Expr) {
	for _, e := range list {
		if e != nil {
			f.literals(e)
		}
	}
}

// wrap makes an expression pass through a probe. It returns false where that would change its type.
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

// mark notes that a statement is reached.
func (f *file) mark(k Kind, at ast.Node, text string) {
	f.insert(at.Pos(), before, "%s", f.marker(k, at, text))
	if k == Call {
		f.reading(at)
	}
}

func (f *file) marker(k Kind, at ast.Node, text string) string {
	return fmt.Sprintf("if %s.On { %s.S(%d) }; ", probeName, probeName, f.site(k, at, text))
}
