// Package pages draws results as self-contained pages.
package pages

import (
	"embed"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html divergence.html triage.html
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.html"))

// Write writes the page of a name, such as "triage.html".
func Write(w io.Writer, name string, data any) error {
	return templates.ExecuteTemplate(w, name, data)
}

// Capital returns text as the beginning of a sentence.
func Capital(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }
