package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// enginePath is the package whose Rules name the functions of a game.
const enginePath = "github.com/seed-49bee653/samestep/lockstep"

// rootFields are the fields of lockstep.Rules whose functions must be deterministic, and the parameter of lockstep.View.
var rootFields = map[string]bool{"Assets": true, "Load": true, "New": true, "Step": true, "Derive": true, "Validate": true, "refuse": true, "SelfTest": true}

// findRoots finds the functions that must be deterministic, by the type lockstep.Rules and by comments.
func (p *program) findRoots() {
	for _, f := range p.files {
		whole := p.packageMarked()
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := p.objects[p.TypesInfo.Defs[fn.Name]]
			if p.all || marked(fn.Doc) {
				p.roots = append(p.roots, n)
			} else if whole {
				p.listed = append(p.listed, n)
			}
		}
		for n := range ast.Preorder(f) {
			switch n := n.(type) {
			case *ast.CompositeLit:
				p.rulesLiteral(n)
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if s, ok := left.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) && isRules(p.typeOf(s.X)) {
						p.ruleField(s.Sel.Name, n.Rhs[i])
					}
				}
			case *ast.CallExpr:
				p.commandType(n)
			}
		}
	}
}

// packageMarked reports whether a comment marks the whole package as deterministic.
func (p *program) packageMarked() bool {
	for _, f := range p.files {
		for _, g := range f.Comments {
			if g.End() < f.Package && marked(g) {
				return true
			}
		}
	}
	return false
}

func isRules(t types.Type) bool {
	n, ok := types.Unalias(deref(t)).(*types.Named)
	return ok && isEngine(n.Obj(), "Rules")
}

func isEngine(o types.Object, name string) bool {
	return o != nil && o.Pkg() != nil && o.Pkg().Path() == enginePath && o.Name() == name
}

func (p *program) rulesLiteral(lit *ast.CompositeLit) {
	t := p.typeOf(lit)
	if !isRules(t) {
		return
	}
	if args := types.Unalias(t).(*types.Named).TypeArgs(); args != nil {
		for a := range args.Types() {
			p.stateType(lit.Type, a)
		}
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				p.ruleField(key.Name, kv.Value)
			}
		}
	}
}

// commandType examines the types of commands in lockstep.Type[T].
func (p *program) commandType(call *ast.CallExpr) {
	id := nameOf(call.Fun)
	if !isEngine(p.TypesInfo.Uses[id], "Type") {
		return
	}
	if args := p.TypesInfo.Instances[id].TypeArgs; args != nil {
		for a := range args.Types() {
			p.stateType(call, a)
		}
	}
}

// ruleField makes the value of a field of lockstep.Rules a root.
func (p *program) ruleField(name string, value ast.Expr) {
	if call, ok := ast.Unparen(value).(*ast.CallExpr); ok && name == "View" && len(call.Args) == 2 && isEngine(p.TypesInfo.Uses[nameOf(call.Fun)], "View") {
		name, value = "refuse", call.Args[1]
	}
	if !rootFields[name] {
		return
	}
	root := &node{}
	switch v := ast.Unparen(value).(type) {
	case *ast.FuncLit:
		n := p.literal(v)
		p.roots, p.given = append(p.roots, n), append(p.given, given{name, v, n})
		return
	case *ast.CallExpr: // a function that makes the function
		root.bodies = []ast.Node{v}
	default:
		if p.TypesInfo.Types[v].IsNil() {
			return
		}
		if p.namedFunc(v) == nil {
			root.report("unseen", value, "the function set as "+name)
		}
		root.bodies = []ast.Node{v}
	}
	p.add(root)
	p.roots, p.given = append(p.roots, root), append(p.given, given{name, value, root})
}

// stateType finds fields that cannot be in a state, and reports their paths.
func (p *program) stateType(at ast.Node, t types.Type) {
	s := stateSearch{seen: map[types.Type]bool{}}
	s.look(types.TypeString(t, types.RelativeTo(p.Pkg)), t)
	for _, bad := range s.bad {
		place := at
		if v := bad.field; v != nil && v.Pkg() == p.Pkg {
			place = fieldAt{v}
		}
		p.report("statetype", place, bad.path+" is "+bad.kind)
	}
}

// A fieldAt is the position of a field's name.
type fieldAt struct{ *types.Var }

func (f fieldAt) End() token.Pos { return f.Pos() + token.Pos(len(f.Name())) }

// A stateSearch walks through the type of a state.
type stateSearch struct {
	field *types.Var
	seen  map[types.Type]bool
	bad   []badField
}

type badField struct {
	field      *types.Var
	path, kind string
}

func (s *stateSearch) look(path string, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if kind := badBasic(u); kind != "" {
			s.bad = append(s.bad, badField{s.field, path, kind})
		}
	case *types.Array:
		s.look(path+"[]", u.Elem())
	case *types.Slice:
		s.look(path+"[]", u.Elem())
	case *types.Struct:
		if s.seen[t] {
			return
		}
		s.seen[t] = true
		for i := range u.NumFields() {
			if strings.Contains(u.Tag(i), `state:"derived"`) {
				continue
			}
			outer := s.field
			s.field = u.Field(i)
			s.look(path+"."+u.Field(i).Name(), u.Field(i).Type())
			s.field = outer
		}
	default:
		s.bad = append(s.bad, badField{s.field, path, "a " + kindOf(u)})
	}
}

func badBasic(b *types.Basic) string {
	switch b.Kind() {
	case types.Int, types.Uint, types.Uintptr, types.UnsafePointer:
		return "of the platform-sized type " + b.Name()
	}
	if b.Info()&floats != 0 {
		return "of the type " + b.Name()
	}
	return ""
}

// kindOf returns the name of a kind of type.
func kindOf(t types.Type) string {
	switch t.(type) {
	case *types.Map:
		return "map"
	case *types.Pointer:
		return "pointer"
	case *types.Chan:
		return "channel"
	case *types.Signature:
		return "function"
	}
	return "value of an interface"
}

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
