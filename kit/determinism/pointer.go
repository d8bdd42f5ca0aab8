package determinism

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// printers has the functions of fmt, and the index of their first printed argument. For names that end in "f", the
// format precedes it.
var printers = map[string]int{
	"Sprint": 0, "Sprintln": 0, "Sprintf": 1, "Errorf": 1, "Append": 1, "Appendln": 1, "Appendf": 2,
	"Fprint": 1, "Fprintln": 1, "Fprintf": 2, "Print": 0, "Println": 0, "Printf": 1,
}

// printed finds printed addresses.
func (p *program) printed(n *node, call *ast.CallExpr) {
	name := p.standardFunc(call, "fmt")
	first, ok := printers[name]
	if !ok {
		p.printedBy(n, call)
	}
	if !ok || len(call.Args) < first {
		return
	}
	verbs := ""
	if strings.HasSuffix(name, "f") {
		verbs = p.verbs(call.Args[first-1])
		if strings.Contains(verbs, "p") {
			n.report("pointer", call, "%p prints an address")
			return
		}
	}
	if call.Ellipsis != token.NoPos {
		return
	}
	for i, arg := range call.Args[first:] {
		if i < len(verbs) && verbs[i] == 'T' {
			continue
		}
		if printsAddress(p.typeOf(arg), 0) {
			n.report("pointer", arg, "fmt."+name+" prints the address in "+types.ExprString(arg))
		}
		p.printedTime(n, name, arg)
	}
}

// printedBy finds addresses in calls of any other function with a format before a variadic list of values.
func (p *program) printedBy(n *node, call *ast.CallExpr) {
	s, ok := p.typeOf(call.Fun).(*types.Signature)
	if !ok || !s.Variadic() || s.Params().Len() < 2 || len(call.Args) < s.Params().Len() {
		return
	}
	last := s.Params().Len() - 1
	list, ok := s.Params().At(last).Type().(*types.Slice)
	if ok && types.IsInterface(list.Elem()) && strings.Contains(p.verbs(call.Args[last-1]), "p") {
		n.report("pointer", call, "%p prints an address")
	}
}

// verbs returns the verbs of a constant format, one for each argument.
func (p *program) verbs(format ast.Expr) string {
	v := p.constant(format)
	if v == nil || v.Kind() != constant.String {
		return ""
	}
	return verbsOf(constant.StringVal(v))
}

// verbsOf returns the verbs of a format, one for each argument.
func verbsOf(format string) string {
	var verbs strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[i]) >= 0; i++ {
			if format[i] == '*' {
				verbs.WriteByte('*')
			}
		}
		if i < len(format) && format[i] != '%' {
			verbs.WriteByte(format[i])
		}
	}
	return verbs.String()
}

// printsAddress reports whether fmt prints an address in a value of a type. fmt follows only the outermost pointer to a
// struct, a list or a map.
func printsAddress(t types.Type, depth int) bool {
	if depth > 4 || hasText(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			return depth > 0 || printsAddress(u.Elem(), depth+1)
		}
		return true
	case *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return printsAddress(u.Elem(), depth+1)
	case *types.Slice:
		return printsAddress(u.Elem(), depth+1)
	case *types.Map:
		return printsAddress(u.Key(), depth+1) || printsAddress(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if printsAddress(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// hasText reports whether a type prints itself.
func hasText(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if o, _, _ := types.LookupFieldOrMethod(t, false, nil, name); o != nil {
			if _, ok := o.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}

// binary examines an operation on addresses or fixed-point numbers.
func (p *program) binary(n *node, e *ast.BinaryExpr) {
	switch e.Op {
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if b, ok := p.typeOf(e.X).Underlying().(*types.Basic); ok && b.Kind() == types.Uintptr && isPlain(e.X) && isPlain(e.Y) && p.constant(e.Y) == nil {
			n.report("pointer", e, types.ExprString(e)+" compares addresses")
		}
	}
	p.fixedOperation(n, e, e.Op, e.X, e.Y)
}

// assign examines "x *= y" of fixed-point numbers.
func (p *program) assign(n *node, s *ast.AssignStmt) {
	ops := map[token.Token]token.Token{
		token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
		token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB,
	}
	if op, ok := ops[s.Tok]; ok {
		p.fixedOperation(n, s, op, s.Lhs[0], s.Rhs[0])
	}
}
