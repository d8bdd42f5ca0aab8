package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// writer is the fact that a function of another package changes something that outlives its call.
type writer struct{}

func (*writer) AFact() {}

func (*writer) String() string { return "writer" }

// A place is a variable, or a field of any value, or its elements.
type place struct {
	v        *types.Var
	elements bool
}

// effects are the changes that a node makes, itself or by its calls.
type effects struct {
	any     bool           // it changes something that outlives the call
	writes  map[place]bool // changed places that have a name
	outer   map[place]bool // values with a changed part
	callees []*node
}

// findEffects notes the changes and the calls of a node.
func (p *program) findEffects(n *node) {
	n.writes, n.outer = map[place]bool{}, map[place]bool{}
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			for _, e := range assigned(at) {
				p.noteWrite(n, e)
			}
			switch at := at.(type) {
			case *ast.SendStmt, *ast.GoStmt, *ast.SelectStmt, *ast.DeferStmt:
				n.any = true
			case *ast.CallExpr:
				p.called(n, at)
			}
		}
	}
}

// assigned returns the expressions to which a statement assigns, without new variables. Some may be nil.
func assigned(at ast.Node) []ast.Expr {
	switch at := at.(type) {
	case *ast.AssignStmt:
		if at.Tok != token.DEFINE {
			return at.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{at.X}
	case *ast.RangeStmt:
		if at.Tok == token.ASSIGN {
			return []ast.Expr{at.Key, at.Value}
		}
	}
	return nil
}

// spreadEffects adds to each node the effects of its callees.
func (p *program) spreadEffects() {
	for changed := true; changed; {
		changed = false
		for _, n := range slices.Backward(p.nodes) {
			for _, c := range n.callees {
				if c.any && !n.any {
					n.any, changed = true, true
				}
				changed = merge(n.writes, c.writes) || changed
				changed = merge(n.outer, c.outer) || changed
			}
		}
	}
}

func merge(to, from map[place]bool) bool {
	before := len(to)
	for w := range from {
		if !isLocalVar(w.v) {
			to[w] = true
		}
	}
	return len(to) > before
}

// noteWrite notes an assignment to an expression.
func (p *program) noteWrite(n *node, e ast.Expr) {
	if e == nil || isBlank(e) {
		return
	}
	e = ast.Unparen(e)
	if p.outlives(n, e) {
		n.any = true
	}
	if star, ok := e.(*ast.StarExpr); ok {
		if s, ok := p.typeOf(star).Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				n.writes[place{f.Origin(), false}] = true
			}
		}
		return
	}
	if w, ok := p.placeAt(e); ok {
		n.writes[w] = true
	}
	p.containers(e, func(w place) { n.outer[w] = true })
}

// placeAt returns the place that an expression denotes.
func (p *program) placeAt(e ast.Expr) (place, bool) {
	e = ast.Unparen(e)
	if index, ok := e.(*ast.IndexExpr); ok {
		if v := p.placeOf(index.X); v != nil {
			return place{v.Origin(), true}, true
		}
		return place{}, false
	}
	v := p.placeOf(e)
	if v == nil {
		return place{}, false
	}
	return place{v.Origin(), false}, true
}

// containers gives the values of which an expression is a part, up to a pointer.
func (p *program) containers(e ast.Expr, give func(place)) {
	for {
		var x ast.Expr
		switch u := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			x = u.X
		case *ast.IndexExpr:
			x = u.X
		default:
			return
		}
		if t := p.typeOf(x); !is[*types.Struct](t) && !is[*types.Array](t) {
			return
		}
		if w, ok := p.placeAt(x); ok {
			give(w)
		}
		e = x
	}
}

// outlives reports whether the variable that an expression denotes may outlive a call of the node.
func (p *program) outlives(n *node, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := p.variable(e)
		return v == nil || !n.declares(v)
	case *ast.SelectorExpr:
		return !is[*types.Struct](p.typeOf(e.X)) || p.outlives(n, e.X)
	case *ast.IndexExpr:
		switch t := p.typeOf(e.X); {
		case is[*types.Array](t):
			return p.outlives(n, e.X)
		case t != types.Typ[types.Invalid]:
			return !p.isFresh(n, e.X)
		}
	}
	return true
}

// declares reports whether a variable is declared inside the node.
func (n *node) declares(v *types.Var) bool {
	return slices.ContainsFunc(n.bodies, func(b ast.Node) bool { return b.Pos() <= v.Pos() && v.Pos() < b.End() })
}

// isFresh reports whether an expression is a variable that the node set with make or to a literal.
func (p *program) isFresh(n *node, e ast.Expr) bool {
	v := p.variable(e)
	if v == nil || !n.declares(v) {
		return false
	}
	fresh := false
	for _, body := range n.bodies {
		for at := range ast.Preorder(body) {
			a, ok := at.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				continue
			}
			for i, left := range a.Lhs {
				if p.variable(left) != v {
					continue
				}
				switch r := ast.Unparen(a.Rhs[i]).(type) {
				case *ast.CompositeLit:
					fresh = true
				case *ast.CallExpr:
					fresh = p.builtin(r) == "make" || fresh && p.builtin(r) == "append"
				default:
					fresh = false
				}
			}
		}
	}
	return fresh
}

// pureStandard has the packages of the standard library whose functions change only their receivers.
var pureStandard = strings.Fields("cmp errors math math/bits strconv strings unicode unicode/utf8 unicode/utf16")

// pureNames has functions of other packages that change nothing.
var pureNames = map[string]bool{
	"fmt.Sprint": true, "fmt.Sprintf": true, "fmt.Sprintln": true, "fmt.Errorf": true,
	"slices.Contains": true, "slices.Index": true, "slices.Max": true, "slices.Min": true, "slices.Equal": true,
	"slices.Compare": true, "slices.BinarySearch": true, "slices.Clone": true, "slices.Concat": true, "slices.IsSorted": true,
	"slices.Sorted": true, "slices.Collect": true, "slices.Values": true, "slices.All": true, "slices.Backward": true,
	"maps.Keys": true, "maps.Values": true, "maps.All": true, "maps.Clone": true, "maps.Equal": true,
	"bytes.Equal": true, "bytes.Compare": true,
}

// called notes the changes that a call may make.
func (p *program) called(n *node, call *ast.CallExpr) {
	if p.isConversion(call) {
		return
	}
	if b := p.builtin(call); b != "" {
		if b == "copy" || b == "delete" || b == "clear" {
			n.writesElements(p, call.Args[0])
		}
		return
	}
	fn := p.namedFunc(call.Fun)
	switch {
	case fn == nil: // a literal that is called is part of the body, and so is one in a variable of it
		n.any = n.any || !p.isLocalLiteral(n, call)
	case fn.Pkg() == p.Pkg && !isMethodOfInterface(fn):
		if to := p.objects[fn]; to != nil {
			n.callees = append(n.callees, to)
		}
	case !p.isPureFunc(fn):
		n.any = true
		p.argumentsWritten(n, call)
	}
}

// argumentsWritten notes that an unknown function may change its receiver and its arguments.
func (p *program) argumentsWritten(n *node, call *ast.CallExpr) {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.TypesInfo.Selections[sel] != nil {
		if w, ok := p.placeAt(sel.X); ok && byPointer(p.namedFunc(call.Fun)) && !is[*types.Pointer](p.typeOf(sel.X)) {
			n.writes[w] = true
		}
	}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if w, ok := p.placeAt(u.X); ok {
				n.writes[w] = true
			}
		} else if isCore[*types.Slice](p.typeOf(arg)) {
			n.writesElements(p, arg)
		}
	}
}

func (n *node) writesElements(p *program, e ast.Expr) {
	if v := p.placeOf(e); v != nil {
		n.writes[place{v.Origin(), true}] = true
	}
	if !p.isFresh(n, e) {
		n.any = true
	}
}
