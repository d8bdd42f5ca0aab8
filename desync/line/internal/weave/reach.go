package weave

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// called by the standard library on values that it is given.
var byInterface = []string{"Len", "Less", "Swap", "Push", "Pop", "Compare", "Error", "String"}

// reach notes the functions that a declaration reaches, like package kit/determinism: a function that is named is
// reached, and of a method of an interface every method with its name.
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
