package weave

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// engine is the module of the engine. The packages below it that games import are not woven; its examples are.
const engine = "github.com/seed-49bee653/samestep"

// ErrSource is wrapped by the errors of sources that are missing, do not compile or have no rules.
var ErrSource = errors.New("no usable sources")

// Options say which sources to read.
type Options struct {
	Dir  string   // a folder in the module of the game
	Env  []string // of the go command, such as GOARCH=386; nil means that of this process
	Game string   // the name of the game; rules with another name are left out

	Plain bool // write no probes: only the program with the rules

	// Test weaves the package in Dir with its tests, and what they import: whatever makes or changes lockstep.Rules there has
	// the rules, and Write adds no program.
	Test bool
	Tags string // of the build

	// Packages are the packages with rules and those that they import, see [Source.Packages]. Nil means to look for them.
	Packages []string

	// Overlay replaces files on the disk: absolute path to content.
	Overlay map[string][]byte
}

// A Source is the source code of a game's rules.
type Source struct {
	Dir   string // of the module
	Rules []Rules
	Sites []Site          // after Write, by number
	Decls map[string]Decl // the constants and variables of packages

	o        Options
	fset     *token.FileSet
	packages []*packages.Package
	decls    map[string]decl // by keyOf
	reached  map[ast.Node]bool
	files    []string // that Write has woven
	tested   string   // with Options.Test: the folder of the package, relative to Dir
}

// Rules are a function without parameters that returns lockstep.Rules.
type Rules struct {
	Package string // its import path
	Func    string
	Main    bool // the package is a program
}

// A decl is the declaration of a function or a variable of a package.
type decl struct {
	pkg    *packages.Package
	node   ast.Node
	object types.Object
}

// keyOf returns a key for a function or a package variable. It is the name, because a package and its test variant have different
// objects of one name. For init functions and blank variables, which share their names, the position is added.
func (s *Source) keyOf(o types.Object) string {
	key := declName(o)
	if f, ok := o.(*types.Func); ok {
		key = f.Origin().FullName()
	}
	if o.Name() == "init" || o.Name() == "_" {
		key += " " + s.fset.PositionFor(o.Pos(), false).String()
	}
	return key
}

// Read reads the sources of a module with the go command.
func Read(o Options) (*Source, error) {
	dir, err := moduleDir(o)
	if err != nil {
		return nil, err
	}
	s := &Source{Dir: dir, o: o, fset: token.NewFileSet(), Decls: map[string]Decl{}, decls: map[string]decl{}, reached: map[ast.Node]bool{}}
	if err := s.load(); err != nil {
		return nil, err
	}
	for _, p := range s.packages {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%w: %w", ErrSource, e)
		}
	}
	s.declare()
	if o.Test {
		return s, s.findTested()
	}
	s.findRules()
	if len(s.Rules) == 0 {
		return nil, fmt.Errorf("%w: %s has no function without parameters that returns the lockstep.Rules of game %q", ErrSource, dir, o.Game)
	}
	return s, nil
}

// load loads the packages.
func (s *Source) load() error {
	if s.o.Test {
		return s.loadTested()
	}
	paths, err := s.o.Packages, error(nil)
	if paths == nil {
		if paths, err = s.candidates(); err != nil {
			return err
		}
	}
	if s.packages, err = packages.Load(s.config(packages.LoadSyntax|packages.NeedModule|packages.NeedEmbedFiles), paths...); err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	return nil
}

// Packages returns the paths of the packages that were read.
func (s *Source) Packages() (all []string) {
	for _, p := range s.packages {
		all = append(all, p.PkgPath)
	}
	return all
}

// BuildFlags returns flags of the go command. Modules come from the module cache, because a vendor folder lacks package
// desync/probe.
func (s *Source) BuildFlags() []string {
	flags := []string{"-mod=readonly"}
	if s.o.Tags != "" {
		flags = append(flags, "-tags="+s.o.Tags)
	}
	return flags
}

// moduleDir returns the root of the module that contains the folder of the options.
func moduleDir(o Options) (string, error) {
	c := exec.Command("go", "env", "GOMOD")
	c.Dir, c.Env = o.Dir, o.Env
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w: go env in %s: %w", ErrSource, o.Dir, err)
	}
	mod := strings.TrimSpace(string(out))
	if mod == "" || mod == os.DevNull {
		dir, err := filepath.Abs(o.Dir)
		return "", errors.Join(err, fmt.Errorf("%w: %s is not in a Go module", ErrSource, dir))
	}
	return filepath.Dir(mod), nil
}

func (s *Source) config(mode packages.LoadMode) *packages.Config {
	return &packages.Config{Mode: mode, Dir: s.Dir, Env: s.o.Env, Fset: s.fset, Overlay: s.o.Overlay, BuildFlags: s.BuildFlags()}
}

// candidates returns the packages that may have rules, in the module and in modules replaced by folders, and what these import.
func (s *Source) candidates() ([]string, error) {
	all, err := packages.Load(s.config(packages.NeedName|packages.NeedFiles|packages.NeedImports|packages.NeedDeps|packages.NeedModule), "./...")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	var roots []*packages.Package
	packages.Visit(all, nil, func(p *packages.Package) {
		if woven(p) && p.Imports[engine+"/lockstep"] != nil && slices.ContainsFunc(p.GoFiles, func(file string) bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(b), "Rules[")
		}) {
			roots = append(roots, p)
		}
	})
	var paths []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		if woven(p) {
			paths = append(paths, p.PkgPath)
		}
	})
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no package in %s has a lockstep.Rules", ErrSource, s.Dir)
	}
	return paths, nil
}

// woven reports whether a package is the game's and -overlay can replace it: it is in the main module or one replaced by a folder.
func woven(p *packages.Package) bool {
	m := p.Module
	if m == nil || !m.Main && (m.Replace == nil || m.Replace.Version != "") {
		return false
	}
	below, ok := strings.CutPrefix(p.PkgPath, engine+"/")
	return !ok || strings.HasPrefix(below, "examples/") || strings.HasPrefix(below, "internal/testing/planted")
}

// declare records where each function and variable of the packages is declared.
func (s *Source) declare() {
	for _, p := range s.packages {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if o := p.TypesInfo.Defs[d.Name]; o != nil {
						s.decls[s.keyOf(o)] = decl{p, d, o}
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if v, ok := spec.(*ast.ValueSpec); ok {
							s.declareValue(p, d.Tok, v)
						}
					}
				}
			}
		}
	}
}

// declareValue records where variables or constants are declared.
func (s *Source) declareValue(p *packages.Package, tok token.Token, v *ast.ValueSpec) {
	from, to := s.fset.PositionFor(v.Pos(), false), s.fset.PositionFor(v.End(), false)
	src, err := s.content(from.Filename)
	name, relErr := filepath.Rel(s.Dir, from.Filename)
	for _, id := range v.Names {
		o := p.TypesInfo.Defs[id]
		if tok == token.VAR && o != nil {
			s.decls[s.keyOf(o)] = decl{p, v, o}
		}
		if err == nil && relErr == nil && o != nil && id.Name != "_" {
			s.Decls[declName(o)] = Decl{filepath.ToSlash(name), from.Line, string(src[from.Offset:to.Offset])}
		}
	}
}

func (s *Source) content(path string) ([]byte, error) {
	if b, ok := s.o.Overlay[path]; ok {
		return b, nil
	}
	return os.ReadFile(path)
}

// findRules finds the functions that return rules, and what these reach.
func (s *Source) findRules() {
	for _, p := range s.packages {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || fn.Body == nil || fn.Name.Name == "_" {
					continue
				}
				o, ok := p.TypesInfo.Defs[fn.Name].(*types.Func)
				if !ok || !givesRules(o.Signature()) || p.Name != "main" && !o.Exported() || !s.fits(p, fn) {
					continue
				}
				s.Rules = append(s.Rules, Rules{p.PkgPath, fn.Name.Name, p.Name == "main"})
				if !s.o.Plain {
					s.reach(p, fn)
				}
			}
		}
	}
}

// givesRules reports whether a function has no parameters, and one result: lockstep.Rules.
func givesRules(t *types.Signature) bool {
	if t.Params().Len() > 0 || t.Results().Len() != 1 || t.TypeParams().Len() > 0 {
		return false
	}
	return isRules(t.Results().At(0).Type())
}

// fits reports whether rules may be those of the game: false only if their name is a different constant.
func (s *Source) fits(p *packages.Package, fn *ast.FuncDecl) bool {
	fits := true
	for n := range ast.Preorder(fn.Body) {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		if field, isVar := p.TypesInfo.Uses[key].(*types.Var); ok && isVar && field.IsField() && key.Name == "Name" && field.Pkg() != nil && field.Pkg().Path() == engine+"/lockstep" {
			if v := p.TypesInfo.Types[kv.Value].Value; v != nil && v.Kind() == constant.String {
				fits = s.o.Game == "" || constant.StringVal(v) == s.o.Game
			}
		}
	}
	return fits
}

// byInterface are methods that the standard library calls on the game's values.
var byInterface = []string{"Len", "Less", "Swap", "Push", "Pop", "Compare", "Error", "String"}

// reach records the functions that a declaration reaches, as package kit/determinism does: each function that is named, and for an
// interface method each method of that name.
func (s *Source) reach(p *packages.Package, from ast.Node) {
	seen, list := map[ast.Node]bool{from: true}, []decl{{pkg: p, node: from}}
	add := func(o types.Object) {
		if o.Pkg() == nil {
			return
		}
		if d, ok := s.decls[s.keyOf(o)]; ok && !seen[d.node] {
			seen[d.node] = true
			list = append(list, d)
		}
	}
	methods := func(match func(name string) bool) {
		for _, d := range s.decls { // in any order: the result is a set
			o := d.object
			if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil && match(f.Name()) {
				add(o)
			}
		}
	}
	methods(func(name string) bool { return slices.Contains(byInterface, name) })
	for _, d := range s.decls { // init may make functions that Step calls
		if f, ok := d.object.(*types.Func); ok && f.Signature().Recv() == nil && f.Name() == "init" {
			add(f)
		}
	}
	for i := 0; i < len(list); i++ {
		s.reached[list[i].node] = true
		for n := range ast.Preorder(list[i].node) {
			id, ok := n.(*ast.Ident)
			if !ok {
				continue
			}
			switch o := list[i].pkg.TypesInfo.Uses[id].(type) {
			case *types.Func:
				if r := o.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
					methods(func(name string) bool { return name == o.Name() })
				}
				add(o.Origin())
			case *types.Var:
				if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
					add(o)
				}
			}
		}
	}
}

// loadTested loads the package in the folder of the options with its tests, and what these import that -overlay can replace.
func (s *Source) loadTested() error {
	dir, err := filepath.Abs(s.o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	module, linkErr := filepath.EvalSymlinks(s.Dir)
	if err == nil && linkErr == nil {
		s.tested, err = filepath.Rel(module, dir)
	}
	if err = errors.Join(err, linkErr); err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	pattern := "./" + filepath.ToSlash(s.tested)
	config := s.config(packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedForTest)
	config.Tests = true
	all, err := packages.Load(config, pattern)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	own := map[string]bool{}
	for _, p := range all {
		own[p.PkgPath] = true
	}
	var others []string
	packages.Visit(all, nil, func(p *packages.Package) {
		if woven(p) && !own[p.PkgPath] {
			own[p.PkgPath] = true
			others = append(others, p.PkgPath)
		}
	})
	config = s.config(packages.LoadSyntax | packages.NeedModule | packages.NeedForTest)
	config.Tests = true
	if all, err = packages.Load(config, pattern); err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	for _, p := range all {
		if woven(p) && !strings.HasSuffix(p.PkgPath, ".test") && (p.ForTest != "" || !slices.ContainsFunc(all, func(v *packages.Package) bool { return v.PkgPath == p.PkgPath && v.ForTest != "" })) {
			s.packages = append(s.packages, p)
		}
	}
	if len(others) == 0 {
		return nil
	}
	if all, err = packages.Load(s.config(packages.LoadSyntax|packages.NeedModule), others...); err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	s.packages = append(s.packages, all...)
	return nil
}

// findTested records what the rules in the packages reach, from each declaration that makes lockstep.Rules or uses a field of them.
func (s *Source) findTested() error {
	found := false
	for _, d := range s.decls {
		if rules(d) {
			found = true
			s.reach(d.pkg, d.node)
		}
	}
	if !found {
		return fmt.Errorf("%w: the test in %s makes no lockstep.Rules in code that can be rebuilt with probes", ErrSource, filepath.Join(s.Dir, s.tested))
	}
	return nil
}

// rules reports whether a declaration makes lockstep.Rules or uses a field of them.
func rules(d decl) bool {
	for n := range ast.Preorder(d.node) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if isRules(d.pkg.TypesInfo.TypeOf(n)) {
				return true
			}
		case *ast.SelectorExpr:
			if isRules(d.pkg.TypesInfo.TypeOf(n.X)) {
				return true
			}
		}
	}
	return false
}

// isRules reports whether a type is lockstep.Rules, or a pointer to them.
func isRules(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Rules" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == engine+"/lockstep"
}
