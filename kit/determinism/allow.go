package determinism

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

const (
	allowPrefix         = "//samestep:allow"
	deterministicMarker = "//samestep:deterministic"
)

// An allow is a comment that permits breaking one rule in one place, for a reason.
type allow struct {
	rule     string
	comment  *ast.Comment
	from, to token.Pos // what it covers
	used     bool
}

// findAllows reads the comments. One before the package clause covers the file, one in a declaration's comment the
// declaration, and any other its own line, or the next line if it stands alone.
func (p *program) findAllows() {
	for _, f := range p.files {
		code := p.codeLines(f)
		for _, g := range f.Comments {
			for _, c := range g.List {
				text, ok := strings.CutPrefix(c.Text, allowPrefix)
				if ok && (text == "" || text[0] == ' ' || text[0] == '\t') {
					p.addAllow(f, g, c, text, code)
				}
			}
		}
	}
}

func (p *program) addAllow(f *ast.File, g *ast.CommentGroup, c *ast.Comment, text string, code map[int]bool) {
	text, _, _ = strings.Cut(text, "//")
	rule, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	if _, ok := ruleNamed(rule); !ok || rule == "allow" {
		p.report("allow", c, "there is no rule \""+rule+"\"")
		return
	}
	if strings.TrimSpace(reason) == "" {
		p.report("allow", c, "no reason is given")
		return
	}
	a := &allow{rule: rule, comment: c}
	a.from, a.to = p.allowed(f, g, c, code)
	p.allows = append(p.allows, a)
}

// allowed returns the range that an allow comment covers.
func (p *program) allowed(f *ast.File, g *ast.CommentGroup, c *ast.Comment, code map[int]bool) (from, to token.Pos) {
	if c.End() < f.Package {
		return f.FileStart, f.FileEnd
	}
	for _, d := range f.Decls {
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc = d.Doc
		case *ast.GenDecl:
			doc = d.Doc
		}
		if doc == g {
			return d.Pos(), d.End()
		}
	}
	file := p.Fset.File(c.Pos())
	line := file.Line(c.Pos())
	if !code[line] {
		for line++; line < file.LineCount() && !code[line]; line++ {
		}
	}
	from, to = file.LineStart(line), f.FileEnd
	if line < file.LineCount() {
		to = file.LineStart(line+1) - 1
	}
	return from, to
}

// codeLines returns the lines on which anything but a comment begins or ends.
func (p *program) codeLines(f *ast.File) map[int]bool {
	lines := map[int]bool{}
	file := p.Fset.File(f.FileStart)
	for n := range ast.Preorder(f) {
		switch n.(type) {
		case *ast.File, *ast.CommentGroup, *ast.Comment:
			continue
		}
		lines[file.Line(n.Pos())] = true
		if n.End() > n.Pos() {
			lines[file.Line(n.End()-1)] = true
		}
	}
	return lines
}

// forgive removes allowed issues, and reports allow comments that nothing needs.
func (p *program) forgive() {
	for _, n := range p.nodes {
		n.issues = slices.DeleteFunc(n.issues, p.allow)
	}
	p.always = slices.DeleteFunc(p.always, p.allow)
	for _, a := range p.allows {
		if !a.used {
			p.report("allow", a.comment, "nothing here breaks the rule "+a.rule)
		}
	}
}

func (p *program) allow(i issue) bool {
	found := false
	for _, a := range p.allows {
		if a.rule == i.rule && a.from <= i.pos && i.pos <= a.to {
			a.used, found = true, true
		}
	}
	return found
}

// marked reports whether a comment has the line //samestep:deterministic.
func marked(g *ast.CommentGroup) bool {
	if g != nil {
		for _, c := range g.List {
			if strings.TrimSpace(c.Text) == deterministicMarker {
				return true
			}
		}
	}
	return false
}
