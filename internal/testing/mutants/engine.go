package mutants

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
)

// An engine is the source of the engine, by package.
type engine struct {
	root     string // of the checkout
	packages map[string][]*file
}

// A file is a parsed file of the engine.
type file struct {
	name   string // path from the root
	source []byte
	*ast.File
	set *token.FileSet
}

func newEngine(root string) *engine { return &engine{root, map[string][]*file{}} }

// files returns the files of a package that this machine would build, without
// tests.
func (e *engine) files(pkg string) ([]*file, error) {
	if files, ok := e.packages[pkg]; ok {
		return files, nil
	}
	dir := filepath.Join(e.root, filepath.FromSlash(pkg))
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, name := range p.GoFiles {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f, err := newFile(path.Join(pkg, name), source)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	e.packages[pkg] = files
	return files, nil
}

func newFile(name string, source []byte) (*file, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution|parser.ParseComments)
	return &file{name, source, f, set}, err
}

// A place is where a mutant changes the engine.
type place struct {
	*Mutant
	file *file
	fn   *ast.FuncDecl
	edit edit

	number int // selects the mutant in a program with many; 0: none
}

// place finds the function of a mutant, and what its rule changes there.
func (e *engine) place(m *Mutant) (*place, error) {
	p, err := e.find(m)
	if err != nil {
		return nil, fmt.Errorf("mutants: %s: %w", m.Name, err)
	}
	return p, nil
}

func (e *engine) find(m *Mutant) (*place, error) {
	r, err := parseRule(m.Rule)
	if err != nil {
		return nil, err
	}
	pkg, function := m.split()
	files, err := e.files(pkg)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if fn := f.function(function); fn != nil {
			edit, err := r.find(f, fn)
			return &place{Mutant: m, file: f, fn: fn, edit: edit}, err
		}
	}
	return nil, fmt.Errorf("%s has no function %s that is not generic", pkg, function)
}

// function returns a function of a file, by its name without the package; nil if
// the file has none.
func (f *file) function(name string) *ast.FuncDecl {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && nameOf(fn) == name {
			return fn
		}
	}
	return nil
}

// nameOf returns the name of a function as the runtime spells it: "New",
// "(*Host).Receive", "Tick.String". It returns "" for generic functions.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil && fn.Type.TypeParams == nil {
		return fn.Name.Name
	}
	if fn.Recv != nil {
		t := fn.Recv.List[0].Type
		if id, ok := t.(*ast.Ident); ok {
			return id.Name + "." + fn.Name.Name
		}
		if star, ok := t.(*ast.StarExpr); ok {
			if id, ok := star.X.(*ast.Ident); ok {
				return "(*" + id.Name + ")." + fn.Name.Name
			}
		}
	}
	return ""
}

func (f *file) offset(pos token.Pos) int { return f.set.Position(pos).Offset }

// line returns where a position is, such as "lockstep/host/host.go:12".
func (f *file) line(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.name, f.set.Position(pos).Line)
}

// text returns the source from the first of some nodes to the last.
func (f *file) text(nodes ...ast.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	return string(f.source[f.offset(nodes[0].Pos()):f.offset(nodes[len(nodes)-1].End())])
}
