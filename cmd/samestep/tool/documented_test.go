//go:build !js

package tool

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/commands"
)

// documentedKey returns a command without comments and more than one space, and whether it must be run: one that only names a verb in
// a sentence need not.
func documentedKey(c commands.Command) (key string, must bool, err error) {
	calls, err := c.Calls()
	if err != nil {
		return "", false, err
	}
	for _, call := range calls {
		program, args := call.Verb()
		for i, a := range args {
			must = must || i > 1 || !regexp.MustCompile(`^[a-z-]+$`).MatchString(a)
		}
		must = must || program != "" && !c.Span
	}
	text, _, _ := strings.Cut(c.Text, " #")
	return strings.Join(strings.Fields(text), " "), must, nil
}

// unlisted returns the commands without a row, and the rows without a command.
func unlisted(all []commands.Command, how map[string]string) (wrong []string, err error) {
	used := map[string]bool{}
	for _, c := range all {
		key, must, err := documentedKey(c)
		if err != nil {
			return nil, err
		}
		if must && how[key] == "" && !used[key] {
			wrong = append(wrong, fmt.Sprintf("%s: %q has no row", c.At(), key))
		}
		used[key] = true
	}
	for row, way := range how {
		if !used[row] && !commands.Printed(way) {
			wrong = append(wrong, fmt.Sprintf("no document has %q", row))
		}
	}
	return wrong, nil
}

func documented(t *testing.T) (how map[string]string, order []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/documents/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	if how, order, err = commands.ReadRows(string(text)); err != nil {
		t.Fatal(err)
	}
	return how, order
}

// Each command of a document has a row that says how a test runs it, or why not.
func TestDocumentedCommandsAreListed(t *testing.T) {
	t.Parallel()
	all, err := commands.All("../../..")
	if err != nil {
		t.Fatal(err)
	}
	how, _ := documented(t)
	wrong, err := unlisted(all, how)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
	for _, way := range how {
		for _, m := range regexp.MustCompile(`(?:([\w/]+)\.)?(Test[A-Z]\w+)`).FindAllStringSubmatch(way, -1) {
			files, _ := filepath.Glob(filepath.Join("../../..", cmp.Or(m[1], "cmd/samestep/tool"), "*_test.go"))
			if !slices.ContainsFunc(files, func(name string) bool {
				b, err := os.ReadFile(name)
				return err == nil && strings.Contains(string(b), "func "+m[2]+"(")
			}) {
				t.Errorf("[%s]: there is no %s", way, m[0])
			}
		}
	}
}

// Control: a command without a row is found, and a row without a command.
func TestDocumentedCommandsControl(t *testing.T) {
	page := commands.Find("p.md", "`samestep replay` and `samestep serve --web`\n\n    samestep demo   # a match\n    go test ./x\n")
	how, order, err := commands.ReadRows("# x\n[exit 0]\nsamestep demo\n[not run: it waits]\nsamestep serve --web\n")
	if err != nil || len(order) != 2 {
		t.Fatalf("got %v, %v", order, err)
	}
	if wrong, err := unlisted(page, how); err != nil || len(wrong) != 0 {
		t.Errorf("got %q, %v", wrong, err)
	}
	delete(how, "samestep demo")
	how["samestep join"] = "serves"
	wrong, err := unlisted(page, how)
	if got, want := strings.Join(wrong, "\n"), "p.md:3: \"samestep demo\" has no row\nno document has \"samestep join\""; err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, text := range []string{"samestep demo", "[exit x]\n", "[serves]\na\na"} {
		if _, _, err := commands.ReadRows(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
