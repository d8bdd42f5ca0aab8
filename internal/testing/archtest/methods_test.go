package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// maxMethods is how many methods a type may have. A larger one is several machines under one name.
const maxMethods = 60

// methodExceptions are the types above it, with what they have reached. A row may only go down.
var methodExceptions = map[string]struct {
	most   int
	reason string
}{
	"cluster.Member":                   {74, "what a server does as one of a cluster"},
	"cluster/audience.Audience":        {81, "a host's other half, for spectators"},
	"examples/skirmish.World":          {111, "the rules of a whole game"},
	"internal/testing/simulate.world":  {65, "one world, whose machines, server and faults act on each other"},
	"lockstep/coordinator.Coordinator": {77, "one deterministic state machine"},
	"server.Match":                     {68, "composes the machines of a match on a server"},
}

// methodFindings looks for types with too many methods. Generic types are counted, too.
func methodFindings(tr *tree, most int, exceptions map[string]int) (found []finding) {
	for _, p := range tr.pkgs {
		counts := map[string]int{}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					counts[typeName(fn.Recv.List[0].Type)]++
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			n := counts[name]
			limit, excepted := exceptions[p.path+"."+name]
			switch {
			case n > max(most, limit):
				found = append(found, finding{p.path, 0, "methods", fmt.Sprintf("%s has %d methods, want at most %d: give the parts of its state types of their own", name, n, max(most, limit))})
			case excepted && n <= most:
				found = append(found, finding{p.path, 0, "methods", name + " needs no exception any more"})
			}
		}
	}
	return found
}

// No type is several machines under one name.
func TestMethods(t *testing.T) {
	limits := map[string]int{}
	for name, e := range methodExceptions {
		limits[name] = e.most
	}
	report(t, methodFindings(ours(t), maxMethods, limits))
}

func TestMethodsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"a/a.go":      "package p\nfunc (t *T) a() {}\nfunc (t T) b() {}\nfunc (g *G[K]) a() {}",
		"a/b.go":      "package p\nfunc (t *T) c() {}\nfunc c() {}",
		"a/a_test.go": "package p\nfunc (t *T) d() {}",
	})
	expect(t, methodFindings(tr, 2, nil), "a:0: methods: T has 3 methods, want at most 2: give the parts of its state types of their own")
	expect(t, methodFindings(tr, 2, map[string]int{"a.T": 3}))
	expect(t, methodFindings(tr, 3, map[string]int{"a.T": 3}), "a:0: methods: T needs no exception any more")
}
