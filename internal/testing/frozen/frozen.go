// Package frozen keeps version 1 of the formats as it is. Each package with tables of a format gives their rows to a test, and the
// files of testdata/frozen have the rows of the first release. A row neither changes nor goes, and version 1 grows by kinds,
// codes, capabilities and cases that its readers pass over.
package frozen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
)

// row is "sort name: value". The first two do not change with the value.
var row = regexp.MustCompile(`^([a-z-]+) (.+?): (.*)$`)

// growth says of each sort of rows by which names and values version 1 grows. It has no others: a reader of version 1 counts them.
var growth = map[string]func(name, value string, rows []string) bool{
	"record":     func(name, _ string, _ []string) bool { return between(name, 64, 127) },
	"block":      func(name, _ string, _ []string) bool { return between(name, 64, 127) },
	"event":      always,
	"topic":      always,
	"error":      always,
	"closing":    always,
	"reason":     always,
	"capability": always,
	"case":       always,
	"abi":        func(name, _ string, _ []string) bool { return name == "answer" }, // which only a module of newer rules gives
	"message": func(name, value string, rows []string) bool {
		needs := regexp.MustCompile(`\bneeds ([a-z_]+):`).FindStringSubmatch(value)
		return between(name, 32, 63) && needs != nil && slices.ContainsFunc(rows, func(r string) bool { return strings.HasPrefix(r, "capability "+needs[1]+": ") })
	},
}

func always(string, string, []string) bool { return true }

func between(number string, low, high int) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n >= low && n <= high
}

// compare returns what is wrong with rows, which are to have all frozen ones, and the rows by which they grow.
func compare(frozen, rows []string) (wrong, grown []string) {
	now := map[string]string{}
	for _, r := range rows {
		m := row.FindStringSubmatch(r)
		if m == nil {
			wrong = append(wrong, "no row: "+r)
			continue
		}
		key := m[1] + " " + m[2]
		if now[key] != "" {
			wrong = append(wrong, "twice: "+key)
		}
		now[key] = r
	}
	known := map[string]bool{}
	for _, r := range frozen {
		key := ""
		if m := row.FindStringSubmatch(r); m != nil {
			key = m[1] + " " + m[2]
		}
		known[key] = true
		switch got := now[key]; {
		case got == "":
			wrong = append(wrong, "gone: "+r)
		case got != r:
			wrong = append(wrong, "changed: "+r+"\nto       "+got)
		}
	}
	for _, r := range rows {
		m := row.FindStringSubmatch(r)
		if m == nil || known[m[1]+" "+m[2]] {
			continue
		}
		if grows := growth[m[1]]; grows == nil || !grows(m[2], m[3], rows) {
			wrong = append(wrong, "version 1 does not grow by: "+r)
			continue
		}
		grown = append(grown, r)
	}
	return wrong, grown
}

// Check compares the rows with those of a file. With -rewrite it appends the rows by which version 1 grows, or writes a file that is not
// there.
func Check(t *testing.T, file string, rows []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && script.Rewrite() {
		err = os.WriteFile(file, []byte(strings.Join(rows, "\n")+"\n"), 0o644)
		b = []byte(strings.Join(rows, "\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	wrong, grown := compare(strings.Split(strings.TrimSpace(string(b)), "\n"), rows)
	for _, w := range wrong {
		t.Error(w)
	}
	switch {
	case len(wrong) > 0:
		t.Errorf("version 1 stays as it is: after the first release nobody edits a row of %s", file)
	case len(grown) > 0 && !script.Rewrite():
		t.Errorf("version 1 grows by these rows, which -rewrite appends to %s, where they stay:\n%s", file, strings.Join(grown, "\n"))
	case len(grown) > 0:
		if err := os.WriteFile(file, append(b, strings.Join(grown, "\n")+"\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A Constant is one of a source file.
type Constant struct {
	Name   string
	Number int    // if it is a number
	Text   string // if it is a string
}

// Constants returns the constants of a source file whose names begin with a prefix, in order. A number or a string stands behind each.
func Constants(t *testing.T, file, prefix string) (all []Constant) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for i, name := range s.(*ast.ValueSpec).Names {
				if !strings.HasPrefix(name.Name, prefix) {
					continue
				}
				c := Constant{Name: name.Name}
				if err := c.set(s.(*ast.ValueSpec).Values, i); err != nil {
					t.Fatalf("%s: %s: %v", file, name.Name, err)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// set sets the value of constant i of a line.
func (c *Constant) set(values []ast.Expr, i int) (err error) {
	if i >= len(values) {
		return errors.New("want a value")
	}
	l, ok := values[i].(*ast.BasicLit)
	switch {
	case ok && l.Kind == token.INT:
		c.Number, err = strconv.Atoi(l.Value)
	case ok && l.Kind == token.STRING:
		c.Text, err = strconv.Unquote(l.Value)
	default:
		err = fmt.Errorf("want a number or a string")
	}
	return err
}
