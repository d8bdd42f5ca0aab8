package determinism

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// localTimes are the functions whose results are in the time zone of the machine. That of Parse is, if the text has a zone.
var localTimes = strings.Fields("time.Unix time.UnixMilli time.UnixMicro time.Parse")

// zoneless are the methods of a time whose results do not depend on its zone, and shifting those whose results have the same zone.
var (
	zoneless = strings.Fields("UTC In Unix UnixMilli UnixMicro UnixNano Before After Equal Compare Sub IsZero")
	shifting = strings.Fields("Add Truncate Round")
)

// localTime examines the use of a function whose result is in the time zone of the machine.
func (p *program) localTime(n *node, id *ast.Ident, name string) {
	call := p.callOf(id)
	if call != nil && name == "time.Parse" {
		v := p.constant(call.Args[0])
		if v == nil || v.Kind() != constant.String {
			return
		}
		switch layout := constant.StringVal(v); {
		case strings.Contains(layout, "MST"):
			n.report("outside", id, name+" of a zone's name asks the zone of the machine")
			return
		case !strings.Contains(layout, "07"):
			return // in UTC
		}
	}
	if call == nil || !p.isZoneless(call, nil) {
		n.report("outside", id, name+" gives a time in the zone of the machine")
	}
}

// isZoneless reports whether a time is only used in ways that do not depend on its zone: at once, or by a local variable.
func (p *program) isZoneless(e ast.Expr, seen []*types.Var) bool {
	switch up := p.parents[e].(type) {
	case *ast.ParenExpr:
		return p.isZoneless(up, seen)
	case *ast.SelectorExpr:
		call, ok := p.parents[up].(*ast.CallExpr)
		if !ok || call.Fun != up {
			return false
		}
		return slices.Contains(zoneless, up.Sel.Name) || slices.Contains(shifting, up.Sel.Name) && p.isZoneless(call, seen)
	case *ast.CallExpr: // an argument of Before, Sub or such
		fn := p.namedFunc(up.Fun)
		return fn != nil && strings.HasPrefix(qualified(fn), "time.Time.") && slices.Contains(zoneless, fn.Name())
	case *ast.AssignStmt:
		for i, left := range up.Lhs {
			if left == e || len(up.Rhs) == len(up.Lhs) && up.Rhs[i] == e || len(up.Rhs) < len(up.Lhs) && i == 0 {
				return left == e || p.isZonelessVar(left, seen)
			}
		}
	case *ast.ValueSpec:
		for i, name := range up.Names {
			if len(up.Values) < len(up.Names) || up.Values[i] == e {
				return p.isZonelessVar(name, seen)
			}
		}
	}
	return false
}

// isZonelessVar is isZoneless for all uses of a local variable.
func (p *program) isZonelessVar(name ast.Expr, seen []*types.Var) bool {
	v := p.variable(name)
	if isBlank(name) || slices.Contains(seen, v) {
		return true
	}
	if v == nil || !isLocalVar(v) {
		return false
	}
	for id, o := range p.TypesInfo.Uses {
		if o == types.Object(v) && !p.isZoneless(id, append(seen, v)) {
			return false
		}
	}
	return true
}

// printedTime finds a printed time whose zone may be that of the machine.
func (p *program) printedTime(n *node, name string, arg ast.Expr) {
	if hasTime(p.typeOf(arg), 0) && !p.isUTC(arg, nil) {
		n.report("outside", arg, "fmt."+name+" prints the time zone of "+types.ExprString(arg))
	}
}

// hasTime reports whether a value of a type has a time that fmt prints.
func hasTime(t types.Type, depth int) bool {
	if depth > 4 {
		return false
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time" {
		return true
	}
	if hasText(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return depth == 0 && hasTime(u.Elem(), depth+1)
	case *types.Array:
		return hasTime(u.Elem(), depth+1)
	case *types.Slice:
		return hasTime(u.Elem(), depth+1)
	case *types.Map:
		return hasTime(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if hasTime(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// isUTC reports whether a time is in a zone that the code names. time.Local has a rule of its own.
func (p *program) isUTC(e ast.Expr, seen []*types.Var) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		fn := p.namedFunc(e.Fun)
		if fn == nil || fn.Pkg() == nil {
			return false
		}
		switch qualified(fn) {
		case "time.Time.UTC", "time.Time.In", "time.Date":
			return true
		case "time.Time.Add", "time.Time.AddDate", "time.Time.Truncate", "time.Time.Round":
			s, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
			return ok && p.isUTC(s.X, seen)
		}
	case *ast.Ident:
		v := p.variable(e)
		if slices.Contains(seen, v) {
			return true
		}
		list := p.values()[v]
		return len(list) > 0 && !slices.ContainsFunc(list, func(one value) bool { return one.expr == nil || !p.isUTC(one.expr, append(seen, v)) })
	}
	return false
}
