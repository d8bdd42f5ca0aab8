package mutants

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

// A rule rewrites one place in a function, such as "a && b.take(c) -> a". Both
// sides are Go: an expression, statements, or one case of a switch. Nothing on the
// right deletes the statements on the left.
//
// A single lower-case letter is a wildcard. On the left it stands for any
// expression, name or type, and for the same one wherever it is repeated; on the
// right it stands for what it matched. As a statement of its own it stands for any
// number of statements: "if a { b } -> b" drops a condition. Each other name
// stands for itself, as does a one-letter field that only the right has, so a rule
// spells only the names that matter.
type rule struct{ old, new side }

// A side is one side of a rule.
type side struct {
	text  string
	start int        // offset of the text in the file it was parsed from
	expr  ast.Expr   // the side is this expression
	stmts []ast.Stmt // or these statements
}

// arrow separates the sides of a rule. No Go source has it outside of literals.
const arrow = "->"

// errRule is wrapped by the errors of parseRule.
var errRule = errors.New("not a rule")

// parseRule parses "old -> new".
func parseRule(text string) (*rule, error) {
	left, right, ok := strings.Cut(text, arrow)
	if !ok {
		return nil, fmt.Errorf("%w: no %s in %q", errRule, arrow, text)
	}
	r := &rule{}
	for _, half := range []struct {
		*side
		text string
	}{{&r.old, left}, {&r.new, right}} {
		s, err := parseSide(strings.TrimSpace(half.text))
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", errRule, half.text, err)
		}
		*half.side = s
	}
	if r.old.text == "" {
		return nil, fmt.Errorf("%w: nothing left of %s in %q", errRule, arrow, text)
	}
	if r.new.expr == nil || r.old.expr == nil { // a call is also a statement
		r.old.expr, r.new.expr = nil, nil
	}
	has := map[string]bool{}
	for _, id := range r.old.wildcards() {
		has[id.Name] = true
	}
	fields := r.new.fields()
	for _, id := range r.new.wildcards() {
		if !has[id.Name] && !fields[id] {
			return nil, fmt.Errorf("%w: %s stands only right of %s in %q", errRule, id.Name, arrow, text)
		}
	}
	return r, nil
}

// parseSide parses one side.
func parseSide(text string) (side, error) {
	head, tail := "package p; func f() {", "\n}"
	isCase := strings.HasPrefix(text, "case ") || strings.HasPrefix(text, "default:")
	if isCase {
		head, tail = head+"switch {", tail+"\n}"
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", head+text+tail, parser.SkipObjectResolution)
	if err != nil {
		return side{}, err
	}
	body := f.Decls[0].(*ast.FuncDecl).Body
	if isCase {
		body = body.List[0].(*ast.SwitchStmt).Body
	}
	s := side{text: text, start: len(head), stmts: body.List}
	if len(s.stmts) == 1 {
		if e, ok := s.stmts[0].(*ast.ExprStmt); ok {
			s.expr = e.X
		}
	}
	return s, nil
}

// wildcards returns the names of a side that are wildcards, in order.
func (s *side) wildcards() (list []*ast.Ident) {
	for _, stmt := range s.stmts {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if id := wildcard(n); id != nil {
				list = append(list, id)
			}
			return true
		})
	}
	return list
}

// fields returns the names of a side that are fields or methods.
func (s *side) fields() map[*ast.Ident]bool {
	fields := map[*ast.Ident]bool{}
	for _, stmt := range s.stmts {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok {
				fields[x.Sel] = true
			}
			return true
		})
	}
	return fields
}

// wildcard returns a node that is a wildcard; nil if it is none.
func wildcard(n ast.Node) *ast.Ident {
	if id, ok := n.(*ast.Ident); ok && utf8.RuneCountInString(id.Name) == 1 && 'a' <= id.Name[0] && id.Name[0] <= 'z' {
		return id
	}
	return nil
}

// An edit replaces a part of a file.
type edit struct {
	start, end int // offsets
	text       string
}

func (e edit) apply(source []byte) []byte {
	return slices.Concat(source[:e.start], []byte(e.text), source[e.end:])
}

// find returns the change of the one place that the rule matches in a function. It is
// an error if the rule matches nothing or several places.
func (r *rule) find(f *file, fn *ast.FuncDecl) (edit, error) {
	var edits []edit
	var lines []string
	try := func(pattern, v any, first, last ast.Node) {
		if m := (matches{}); m.match(pattern, v) {
			edits = append(edits, edit{f.offset(first.Pos()), f.offset(last.End()), r.new.write(m, f)})
			lines = append(lines, f.line(first.Pos()))
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if r.old.expr != nil {
			if e, ok := n.(ast.Expr); ok && ast.Unparen(e) == e { // else the content comes next
				try(r.old.expr, e, e, e)
			}
			return true
		}
		for list := statements(n); len(list) >= len(r.old.stmts); list = list[1:] {
			part := list[:len(r.old.stmts)]
			try(r.old.stmts, part, part[0], part[len(part)-1])
		}
		return true
	})
	switch len(edits) {
	case 0:
		return edit{}, fmt.Errorf("%q matches nothing in %s", r.old.text, f.line(fn.Pos()))
	case 1:
		return edits[0], nil
	}
	return edit{}, fmt.Errorf("%q matches %d times, want once: %s", r.old.text, len(edits), strings.Join(lines, ", "))
}

// statements returns the statements of a block or a case.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// write returns the text of a side with what its wildcards have matched.
func (s *side) write(m matches, f *file) string {
	var b strings.Builder
	done := 0
	for _, id := range s.wildcards() {
		if _, ok := m[id.Name]; !ok {
			continue // a field
		}
		at := int(id.Pos()) - 1 - s.start
		b.WriteString(s.text[done:at])
		b.WriteString(m.write(id.Name, f))
		done = at + len(id.Name)
	}
	b.WriteString(s.text[done:])
	return parenthesized(b.String(), s.expr)
}

// parenthesized keeps an expression with an operator together wherever it is put.
func parenthesized(text string, n ast.Node) string {
	switch n.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
		return "(" + text + ")"
	}
	return text
}
