// Package pages draws results as self-contained pages.
package pages

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/state"
)

//go:embed page.html divergence.html triage.html profile.html
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.html"))

// Write writes the page of a name, such as "triage.html".
func Write(w io.Writer, name string, data any) error {
	return templates.ExecuteTemplate(w, name, data)
}

// Capital returns text as the beginning of a sentence.
func Capital(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// A Branch is a part of the state with its fields that differ. A page shows it folded.
type Branch struct {
	Name     string
	Top      bool
	Open     bool
	Leaves   []leaf
	Children []*Branch
	fields   int
}

// A leaf is one field of a branch.
type leaf struct{ Name, A, B string }

// Count returns the number of fields in the branch, as text.
func (b *Branch) Count() string {
	if b.fields == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", b.fields)
}

// Tree groups a list of differences by section, and by the element of a list.
func Tree(list []state.Difference) []*Branch {
	var tops []*Branch
	for _, d := range list {
		section, element, name := diff.FoldedPath(d.Path)
		if len(tops) == 0 || tops[len(tops)-1].Name != section {
			tops = append(tops, &Branch{Name: section, Top: true, Open: len(tops) == 0 || len(list) <= 16})
		}
		b := tops[len(tops)-1]
		b.fields++
		if element != "" {
			if n := len(b.Children); n == 0 || b.Children[n-1].Name != element {
				b.Children = append(b.Children, &Branch{Name: element, Open: n < 4 || len(list) <= 16})
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
