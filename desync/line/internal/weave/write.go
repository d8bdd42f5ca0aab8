package weave

import (
	"encoding/json"
	"fmt"
	"go/ast"
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

// weave returns the woven copy of a file, or nil if nothing in it is reached.
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

// program returns the file with the main of a program with all rules, its name, and its package. Rules in a program of the game cannot be
// imported: then the main is in the folder of that program, and its own gets another name.
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

// inMain reports whether all rules are in programs.
func (s *Source) inMain() bool {
	return !slices.ContainsFunc(s.Rules, func(r Rules) bool { return !r.Main })
}
