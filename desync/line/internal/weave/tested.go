package weave

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loadTested loads the package in the folder of the options with its tests, and the packages that these import and that
// -overlay can replace.
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
		if woven(p) && !strings.HasSuffix(p.PkgPath, ".test") && (p.ForTest != "" || !hasVariant(all, p)) {
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

// hasVariant reports whether a list has the variant of a package that has the files of its tests too.
func hasVariant(all []*packages.Package, p *packages.Package) bool {
	for _, v := range all {
		if v.PkgPath == p.PkgPath && v.ForTest != "" {
			return true
		}
	}
	return false
}

// findTested notes what the rules in the packages reach: from each declaration that makes lockstep.Rules, or uses a field of some.
func (s *Source) findTested() error {
	found := false
	for _, d := range s.decls {
		if rules(d) {
			found = true
			s.reach(d.pkg, d.node)
		}
	}
	if !found {
		return fmt.Errorf("%w: no code of the test in %s that can be rebuilt makes lockstep.Rules", ErrSource, filepath.Join(s.Dir, s.tested))
	}
	return nil
}

// rules reports whether a declaration makes lockstep.Rules, or uses a field of some.
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
