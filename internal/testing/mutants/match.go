package mutants

import (
	"go/ast"
	"go/token"
	"reflect"
)

// matches are the values of wildcards: one expression, or statements.
type matches map[string][]ast.Node

// match says whether a pattern matches syntax, and keeps what its wildcards match.
func (m matches) match(pattern, v any) bool {
	return m.value(reflect.ValueOf(pattern), reflect.ValueOf(v))
}

var (
	comments = reflect.TypeFor[*ast.CommentGroup]()
	position = reflect.TypeFor[token.Pos]()
)

// value matches one value of syntax. It ignores positions, comments and parentheses.
// Nil matches have no wildcards.
func (m matches) value(pattern, v reflect.Value) bool {
	pattern, v = inner(pattern), inner(v)
	if !pattern.IsValid() || !v.IsValid() {
		return pattern.IsValid() == v.IsValid()
	}
	if id := wildcardOf(pattern); id != nil && m != nil {
		e, ok := v.Interface().(ast.Expr)
		return ok && m.bind(id.Name, e)
	}
	if pattern.Type() != v.Type() {
		return false
	}
	switch p := pattern.Interface().(type) {
	case []ast.Stmt:
		return m.statements(p, v.Interface().([]ast.Stmt))
	case ast.CallExpr:
		if p.Ellipsis.IsValid() != v.Interface().(ast.CallExpr).Ellipsis.IsValid() {
			return false
		}
	}
	switch pattern.Kind() {
	case reflect.Pointer:
		return m.value(pattern.Elem(), v.Elem())
	case reflect.Struct:
		for i := range pattern.NumField() {
			t := pattern.Type().Field(i).Type
			if t != comments && t != position && !m.value(pattern.Field(i), v.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if pattern.Len() != v.Len() {
			return false
		}
		for i := range pattern.Len() {
			if !m.value(pattern.Index(i), v.Index(i)) {
				return false
			}
		}
		return true
	}
	return pattern.Interface() == v.Interface()
}

// inner returns the content of an interface or parentheses; the zero Value for nil.
func inner(v reflect.Value) reflect.Value {
	for v.IsValid() {
		if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.IsNil() {
			v = v.Elem()
			continue
		}
		paren, ok := v.Interface().(*ast.ParenExpr)
		if !ok {
			break
		}
		v = reflect.ValueOf(paren.X)
	}
	return v
}

func wildcardOf(pattern reflect.Value) *ast.Ident {
	if n, ok := pattern.Interface().(ast.Node); ok {
		return wildcard(n)
	}
	return nil
}

// statements matches a list. One wildcard in it may stand for any number.
func (m matches) statements(pattern, list []ast.Stmt) bool {
	for i, p := range pattern {
		any, ok := p.(*ast.ExprStmt)
		if !ok || m == nil || wildcard(any.X) == nil {
			if len(list) == 0 || !m.match(p, list[0]) {
				return false
			}
			list = list[1:]
			continue
		}
		n := len(list) - len(pattern[i+1:])
		if n < 0 || !m.bind(wildcard(any.X).Name, asNodes(list[:n])...) {
			return false
		}
		list = list[n:]
	}
	return len(list) == 0
}

func asNodes(list []ast.Stmt) []ast.Node {
	nodes := make([]ast.Node, len(list))
	for i, s := range list {
		nodes[i] = s
	}
	return nodes
}

// bind keeps the value of a wildcard, which must be the same each time.
func (m matches) bind(name string, list ...ast.Node) bool {
	before, ok := m[name]
	if !ok {
		m[name] = list
		return true
	}
	if len(before) != len(list) {
		return false
	}
	for i := range list {
		if !matches(nil).match(before[i], list[i]) {
			return false
		}
	}
	return true
}

// write returns the source of a wildcard's value.
func (m matches) write(name string, f *file) string {
	list := m[name]
	if len(list) != 1 {
		return f.text(list...)
	}
	return parenthesized(f.text(list...), list[0])
}
