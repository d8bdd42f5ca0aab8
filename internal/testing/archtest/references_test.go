package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"testing"
)

// maxUpward is how many percent of the references between the files of one
// package may run upward.
const maxUpward = 5

// upwardExceptions are the packages above it, with what they have reached. A row may only
// go down.
var upwardExceptions = map[string]struct {
	percent int
	reason  string
}{
	"examples/skirmish/web/scene": {34, "2 of 6: the painter's effects and units read the painter"},
	"fixed":                       {6, "methods of Vec2 in direction.go; guesses in seed.go are proven by the tables"},
	"desync/line":                 {12, "a search and a comparison have a file for each task"},
	"desync/line/internal/weave":  {25, "statements, expressions and function literals are inside each other"},
	"internal/testing/mutants":    {17, "Hunt has a file for each way to hunt"},
	"internal/testing/simulate":   {24, "one world, whose machines, server and faults act on each other"},
	"cluster/audience":            {19, "Audience has a file for each task, as Host has"},
	"cluster/mirror":              {20, "a server, its matches and their connections call each other"},
	"server":                      {10, "a server, its matches and their connections know each other's types"},
	"server/archive":              {10, "an archive has its goroutines, which keep its limits; an index, and the entries in it"},
	"cluster":                     {14, "Member has a file for each task"},
	"lockstep/coordinator":        {16, "Coordinator has a file for each task"},
}

// references[a][b] is one name that file a of a package uses and file b declares,
// or "" if there is none.
type references [][]string

// fileReferences returns the references between the files of a package that are
// no tests. It needs no other package: names that others declare have no file here.
func fileReferences(tr *tree, p *pkg) (files []*file, refs references) {
	var syntax []*ast.File
	at := map[string]int{}
	for _, f := range p.files {
		if !f.test {
			at[tr.fset.Position(f.ast.FileStart).Filename] = len(files)
			files, syntax = append(files, f), append(syntax, f.ast)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	_, _ = config.Check(p.path, tr.fset, syntax, info)
	for range files {
		refs = append(refs, make([]string, len(files)))
	}
	for id, object := range info.Uses {
		if !object.Pos().IsValid() {
			continue
		}
		from := at[tr.fset.Position(id.Pos()).Filename]
		to := at[tr.fset.Position(object.Pos()).Filename]
		if name := refs[from][to]; from != to && (name == "" || id.Name < name) {
			refs[from][to] = id.Name
		}
	}
	return files, refs
}

// noImports makes every import fail, so that the types of other packages stay
// unknown.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.ErrUnsupported }

// order sorts files so that few references run from a file to one above it. It
// moves one file at a time to its best place until no move helps: the result is
// the same for the same references, but another order may be better still.
func (r references) order() []int {
	order := make([]int, len(r))
	for i := range order {
		order[i] = i
	}
	for better := true; better; {
		better = false
		for f := range r {
			better = r.move(order, f) || better
		}
	}
	return order
}

// move moves file f to the place where the fewest of its references run upward,
// and reports whether that was another place.
func (r references) move(order []int, f int) bool {
	weight := func(a, b int) int { return min(1, len(r[a][b])) }
	from := slices.Index(order, f)
	rest := slices.Delete(slices.Clone(order), from, from+1)
	costs := []int{0} // of f in front of rest[i], compared with in front of all
	for i, other := range rest {
		costs = append(costs, costs[i]+weight(f, other)-weight(other, f))
	}
	to := slices.Index(costs, slices.Min(costs))
	if costs[to] == costs[from] {
		return false
	}
	copy(order, slices.Insert(rest, to, f))
	return true
}

// upward returns the references that run upward, as "a.go uses x of b.go", and how
// many references there are.
func upward(files []*file, refs references) (up []string, all int) {
	order := refs.order()
	for i, a := range order {
		for j, b := range order {
			if refs[a][b] == "" {
				continue
			}
			if all++; j < i {
				up = append(up, fmt.Sprintf("%s uses %s of %s", files[a].name, refs[a][b], files[b].name))
			}
		}
	}
	return up, all
}

func upwardFindings(tr *tree, limits map[string]int) (found []finding) {
	for _, p := range tr.pkgs {
		up, all := upward(fileReferences(tr, p))
		limit, excepted := limits[p.path]
		limit = max(limit, maxUpward)
		switch {
		case 100*len(up) > limit*all && len(up) > 1: // two files that need each other are no layer
			found = append(found, finding{p.path, 0, "upward", fmt.Sprintf("got %d of %d references upward, want at most %d %%: %q", len(up), all, limit, up)})
		case excepted && 100*len(up) <= maxUpward*all:
			found = append(found, finding{p.path, 0, "upward", "the exception is not needed any more"})
		}
	}
	return found
}

// The files of a package have an order in which nearly all references run
// downward, so that a reader can begin at the top and understand each file from
// those below it.
func TestUpward(t *testing.T) {
	limits := map[string]int{}
	for path, e := range upwardExceptions {
		limits[path] = e.percent
	}
	report(t, upwardFindings(ours(t), limits))
}

func TestUpwardControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		"down/a.go": "package p\nfunc a() { b(); c() }",
		"down/b.go": "package p\nimport \"x\"\nfunc b() { c(); x.Y(a2) }",
		"down/c.go": "package p\nfunc c() {}\nvar a2 int",
		"knot/a.go": "package p\ntype A struct{}\nfunc (a A) x() { a.y(); a.z() }",
		"knot/b.go": "package p\nfunc (a A) y() { a.x(); a.z() }",
		"knot/c.go": "package p\nfunc (a A) z() { a.x(); a.y() }",
		"pair/a.go": "package p\nfunc a() { b() }",
		"pair/b.go": "package p\nfunc b() { a() }",
	})
	knot := `knot:0: upward: got 3 of 6 references upward, want at most %d %%: ["knot/b.go uses A of knot/a.go" "knot/c.go uses A of knot/a.go" "knot/c.go uses y of knot/b.go"]`
	expect(t, upwardFindings(tr, nil), fmt.Sprintf(knot, 5))
	expect(t, upwardFindings(tr, map[string]int{"knot": 49}), fmt.Sprintf(knot, 49))
	expect(t, upwardFindings(tr, map[string]int{"knot": 50, "down": 9}), "down:0: upward: the exception is not needed any more")
}
