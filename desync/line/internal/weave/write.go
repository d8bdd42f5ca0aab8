package weave

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// MainDir is the folder of the program that Write adds, below that of the first rules. It exists only in the overlay.
const MainDir = "samestepline"

// A Program is what [Source.Write] has written: how to build it.
type Program struct {
	Dir     string // where to run the go command
	Overlay string // file for its flag -overlay
	Package string // the package to build
}

// Write writes the woven copies of the sources, and a program with their rules, to files in a folder.
func (s *Source) Write(folder string) (Program, error) {
	s.Sites, s.files = nil, nil
	replace := map[string]string{}
	add := func(path string, content []byte) error {
		copied := filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		replace[path] = copied
		return os.WriteFile(copied, content, 0o600)
	}
	for _, p := range s.packages {
		for _, f := range p.Syntax {
			path := s.fset.PositionFor(f.Package, false).Filename
			content, err := s.weave(p, f, path)
			if err == nil && content != nil {
				s.files = append(s.files, path)
				err = add(path, content)
			}
			if err != nil {
				return Program{}, err
			}
		}
		if path, content := s.data(p); content != nil && !s.o.Test && !s.o.Plain {
			if err := add(path, content); err != nil {
				return Program{}, err
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.o.Overlay)) { // of packages without probes, such as the engine's
		if replace[path] == "" {
			if err := add(path, s.o.Overlay[path]); err != nil {
				return Program{}, err
			}
		}
	}
	pkg := "./" + filepath.ToSlash(s.tested)
	if !s.o.Test {
		var main []byte
		var path string
		main, path, pkg = s.program()
		if err := add(path, main); err != nil {
			return Program{}, err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return Program{}, err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return Program{s.Dir, overlay, pkg}, os.WriteFile(overlay, b, 0o600)
}

// weave returns the woven copy of a file, or nil if the rules reach nothing in it.
func (s *Source) weave(p *packages.Package, f *ast.File, path string) ([]byte, error) {
	for _, i := range f.Imports {
		if i.Path.Value == `"C"` {
			return nil, nil
		}
	}
	src, err := s.content(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(s.Dir, path)
	if err != nil {
		return nil, err
	}
	w := &file{source: s, name: filepath.ToSlash(name), pkg: p.PkgPath, src: src, tok: s.fset.File(f.Package), info: p.TypesInfo, goes: p.TypesInfo.FileVersions[f]}
	sites := len(s.Sites)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !s.o.Test && s.inMain() && p.PkgPath == s.Rules[0].Package && d.Recv == nil && d.Name.Name == "main" {
				w.insert(d.Name.End(), before, "OfTheGame")
			}
			if s.reached[d] && d.Body != nil {
				w.function(p.PkgPath+"."+receiver(d)+d.Name.Name, d, d.Recv, d.Type.Params, d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && s.reached[v] {
					w.fn, w.lits = p.PkgPath+"."+v.Names[0].Name, 0
					w.exprs(v.Values...)
				}
			}
		}
	}
	if _, changed := s.o.Overlay[path]; len(w.all) == 0 && !changed {
		return nil, nil
	} else if len(w.all) == 0 {
		return src, nil
	}
	if len(s.Sites) == sites {
		return inserted(src, w.all), nil
	}
	w.insert(f.Name.End(), before, "; import %s %q", probeName, engine+"/desync/probe")
	return inserted(src, w.all), nil
}

// receiver returns the receiver of a method as it stands in its name: "(*World).".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	star := ""
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			star, e = "*", x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			if star != "" {
				return "(*" + x.Name + ")."
			}
			return x.Name + "."
		default:
			return ""
		}
	}
}

// program returns the main file of a program with all rules. If the rules are in a main package, which cannot be imported, that package's
// own main function is renamed.
func (s *Source) program() (content []byte, name, pkg string) {
	var imports, makers strings.Builder
	inMain := s.inMain()
	home := s.Rules[slices.IndexFunc(s.Rules, func(r Rules) bool { return r.Main == inMain })]
	for i, r := range s.Rules {
		switch {
		case r.Main && inMain && r.Package == home.Package:
			fmt.Fprintf(&makers, "program.Of(%s), ", r.Func)
		case !r.Main:
			fmt.Fprintf(&imports, "\trules%d %q\n", i, r.Package)
			fmt.Fprintf(&makers, "program.Of(rules%d.%s), ", i, r.Func)
		}
	}
	for _, p := range s.packages {
		if p.PkgPath == home.Package {
			name = filepath.Join(filepath.Dir(s.fset.PositionFor(p.Syntax[0].Package, false).Filename), MainDir, "main.go")
		}
	}
	pkg = home.Package + "/" + MainDir
	if inMain {
		pkg = home.Package
		name = filepath.Join(filepath.Dir(filepath.Dir(name)), MainDir+".go")
	}
	return fmt.Appendf(nil, "package main\n\nimport (\n\t%q\n%s)\n\nfunc main() { program.Main(%s) }\n", engine+"/desync/probe/program", imports.String(), makers.String()), name, pkg
}

func (s *Source) inMain() bool {
	return !slices.ContainsFunc(s.Rules, func(r Rules) bool { return !r.Main })
}

// dataFile is the name of the file that Write adds to each package with variables. It exists only in the overlay.
const dataFile = "samestepdata.go"

// data returns the file that tells package desync/probe the variables of a package, or nil if it has none.
func (s *Source) data(p *packages.Package) (path string, content []byte) {
	var calls strings.Builder
	scope := p.Types.Scope()
	for _, name := range scope.Names() { // sorted
		if v, ok := scope.Lookup(name).(*types.Var); ok && name != probeName {
			fmt.Fprintf(&calls, "\t%s.Data(%q, &%s)\n", probeName, declName(v), name)
		}
	}
	if calls.Len() == 0 {
		return "", nil
	}
	dir := filepath.Dir(s.fset.PositionFor(p.Syntax[0].Package, false).Filename)
	return filepath.Join(dir, dataFile), fmt.Appendf(nil, "package %s\n\nimport %s %q\n\nfunc init() {\n%s}\n", p.Name, probeName, engine+"/desync/probe", calls.String())
}

// An Embedded is a file that a package variable embeds with go:embed.
type Embedded struct {
	File    string // relative to the folder of the module
	Package string
	Content []byte
}

// Embedded returns the embedded files of the packages, by name.
func (s *Source) Embedded() (all []Embedded, err error) {
	for _, p := range s.packages {
		for _, path := range p.EmbedFiles {
			e := Embedded{Package: p.PkgPath, File: s.relative(path)}
			if e.Content, err = s.content(path); err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Embedded) int { return strings.Compare(a.File, b.File) })
	return all, nil
}

// relative returns the name of a file relative to the folder of the module.
func (s *Source) relative(path string) string {
	if name, err := filepath.Rel(s.Dir, path); err == nil {
		path = name
	}
	return filepath.ToSlash(path)
}

// initial returns the declarations that are computed before the match: those of variables, functions init, and what these name.
func (s *Source) initial() map[ast.Node]bool {
	all := map[ast.Node]bool{}
	var list []decl
	add := func(d decl) {
		if !all[d.node] {
			all[d.node] = true
			list = append(list, d)
		}
	}
	for _, d := range s.decls {
		_, isVar := d.object.(*types.Var)
		if isVar || d.object.Name() == "init" {
			add(d)
		}
	}
	for i := 0; i < len(list); i++ {
		for n := range ast.Preorder(list[i].node) {
			if id, ok := n.(*ast.Ident); ok {
				if o, ok := list[i].pkg.TypesInfo.Uses[id].(*types.Func); ok && o.Pkg() != nil {
					if d, ok := s.decls[s.keyOf(o)]; ok {
						add(d)
					}
				}
			}
		}
	}
	return all
}

// A Change is a line in which two versions differ, besides comments and space.
type Change struct {
	File    string
	Package string
	Line    [2]int    // on side A and B; 0 where the side does not have it
	Text    [2]string // of the line
	Func    [2]string // as in Site.Func, without its literals; "" outside of a function
	Initial bool      // in what is computed before the match
}

// Changed returns the lines in which the packages of two sources differ.
func Changed(a, b *Source) (all []Change) {
	ours := a.codeFiles()
	initial := [2]map[ast.Node]bool{a.initial(), b.initial()}
	theirs := b.codeFiles()
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		x, ok := ours[name]
		y := theirs[name]
		if !ok || string(x.content) == string(y.content) {
			continue
		}
		from := len(all)
		all = append(all, changedLines(x.lines(a), y.lines(b))...)
		for i := from; i < len(all); i++ {
			c := &all[i]
			c.File, c.Package = name, y.pkg.PkgPath
			for side, f := range []*codeFile{x, y} {
				if c.Line[side] == 0 {
					continue
				}
				s := []*Source{a, b}[side]
				node, fn := f.around(s, c.Line[side])
				c.Func[side] = fn
				c.Initial = c.Initial || initial[side][node]
			}
		}
	}
	return all
}

// A codeFile is a file of a package.
type codeFile struct {
	pkg     *packages.Package
	syntax  *ast.File
	content []byte
}

func (s *Source) codeFiles() map[string]*codeFile {
	all := map[string]*codeFile{}
	for _, p := range s.packages {
		for _, f := range p.Syntax {
			path := s.fset.PositionFor(f.Package, false).Filename
			if content, err := s.content(path); err == nil {
				all[s.relative(path)] = &codeFile{p, f, content}
			}
		}
	}
	return all
}

// A codeLine is a line with code.
type codeLine struct {
	number int
	text   string
}

// lines returns the lines with code, without comments and the space around them.
func (f *codeFile) lines(s *Source) (all []codeLine) {
	content := slices.Clone(f.content)
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			from := s.fset.PositionFor(c.Pos(), false).Offset
			for i := from; i < min(from+len(c.Text), len(content)); i++ {
				if content[i] != '\n' {
					content[i] = ' '
				}
			}
		}
	}
	for i, text := range strings.Split(string(content), "\n") {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			all = append(all, codeLine{i + 1, text})
		}
	}
	return all
}

// around returns the declaration that contains a line, and its name if it is a function.
func (f *codeFile) around(s *Source, line int) (ast.Node, string) {
	in := func(n ast.Node) bool {
		return s.fset.PositionFor(n.Pos(), false).Line <= line && line <= s.fset.PositionFor(n.End(), false).Line
	}
	for _, d := range f.syntax.Decls {
		if !in(d) {
			continue
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			return d, f.pkg.PkgPath + "." + receiver(d) + d.Name.Name
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && in(v) {
					return v, ""
				}
			}
		}
	}
	return nil, ""
}

// changedLines pairs the lines that only one of two files has: between the same neighbours, one by one.
func changedLines(a, b []codeLine) (all []Change) {
	texts := func(lines []codeLine) (texts []string) {
		for _, l := range lines {
			texts = append(texts, l.text)
		}
		return texts
	}
	i, j := 0, 0
	for _, m := range append(common(texts(a), texts(b)), [2]int{len(a), len(b)}) {
		for i < m[0] || j < m[1] {
			var c Change
			if i < m[0] {
				c.Line[0], c.Text[0] = a[i].number, a[i].text
				i++
			}
			if j < m[1] {
				c.Line[1], c.Text[1] = b[j].number, b[j].text
				j++
			}
			all = append(all, c)
		}
		i, j = m[0]+1, m[1]+1
	}
	return all
}
