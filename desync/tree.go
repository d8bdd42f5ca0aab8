package desync

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// A branch is a part of the state with its fields that differ. A page shows it folded.
type branch struct {
	Name     string
	Top      bool
	Open     bool
	Leaves   []leaf
	Children []*branch
	fields   int
}

// A leaf is one field of a branch.
type leaf struct{ Name, A, B string }

// Count returns the number of fields in the branch, as text.
func (b *branch) Count() string {
	if b.fields == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", b.fields)
}

// treeOf groups a list of differences by section, and by the element of a list.
func treeOf(list []state.Difference) []*branch {
	var tops []*branch
	for _, d := range list {
		section, element, name := foldedPath(d.Path)
		if len(tops) == 0 || tops[len(tops)-1].Name != section {
			tops = append(tops, &branch{Name: section, Top: true, Open: len(tops) == 0 || len(list) <= 16})
		}
		b := tops[len(tops)-1]
		b.fields++
		if element != "" {
			if n := len(b.Children); n == 0 || b.Children[n-1].Name != element {
				b.Children = append(b.Children, &branch{Name: element, Open: n < 4 || len(list) <= 16})
			}
			b = b.Children[len(b.Children)-1]
			b.fields++
		}
		l := leaf{name, d.A, d.B}
		if d.ULPs > 0 {
			l.B += " (" + d.ULPs.String() + ")"
		}
		b.Leaves = append(b.Leaves, l)
	}
	return tops
}

// foldedPath divides a path such as "Units[17].Pos.X" into its section, its list element, if any, and the rest.
func foldedPath(path string) (section, element, name string) {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		return path, "", path
	}
	section = path[:end]
	if open := strings.IndexByte(path, '['); open >= 0 {
		end := open + strings.IndexByte(path[open:], ']') + 1
		if rest := strings.TrimPrefix(path[end:], "."); rest != "" {
			return section, path[:end], rest
		}
		return section, "", path[len(section):]
	}
	return section, "", path[end+1:]
}
