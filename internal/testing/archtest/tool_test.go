package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// toolHome is the folder of the groups of verbs.
const toolHome = "cmd/samestep/tool/internal/"

// toolRow is a row of the table of these groups: a package, and those that it may import, which stand below it.
var toolRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]* \\| ([^|]*) \\|$")

// toolFindings compares the table with the real imports.
func toolFindings(tr *tree, page string) (found []finding) {
	_, page, _ = strings.Cut(page, "### The command line")
	var order []string
	listed := map[string][]string{}
	for _, row := range toolRow.FindAllStringSubmatch(page, -1) {
		order = append(order, row[1])
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2], -1) {
			listed[row[1]] = append(listed[row[1]], name[1])
		}
	}
	for _, p := range tr.pkgs {
		name, ok := strings.CutPrefix(p.path, toolHome)
		if !ok || strings.Contains(name, "/") {
			continue
		}
		at := slices.Index(order, name)
		if at < 0 {
			found = append(found, finding{p.path, 0, "tool", "it is not in the table of ARCHITECTURE.md"})
			continue
		}
		real := map[string]bool{}
		for _, f := range p.files {
			for _, i := range f.ast.Imports {
				path := strings.Trim(i.Path.Value, `"`)
				if _, below, ok := strings.Cut(path, "/"+toolHome); ok && !f.test && !strings.Contains(below, "/") {
					real[below] = true
				}
			}
		}
		for below := range real {
			if !slices.Contains(listed[name], below) || slices.Index(order, below) < at {
				found = append(found, finding{p.path, 0, "tool", fmt.Sprintf("it imports %s, which the table does not have below it", below)})
			}
		}
		for _, below := range listed[name] {
			if !real[below] {
				found = append(found, finding{p.path, 0, "tool", fmt.Sprintf("it does not import %s, as the table says", below)})
			}
		}
	}
	return found
}

// Arrows between the groups of verbs go down only, as the table in ARCHITECTURE.md has them.
func TestGroupsOfVerbs(t *testing.T) {
	tr := ours(t)
	page, err := os.ReadFile(filepath.Join(tr.dir, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, toolFindings(tr, string(page)))
}

// Control: an import that the table does not have, one that is gone, and a package without a row are found.
func TestGroupsOfVerbsControl(t *testing.T) {
	tr := treeOf(t, map[string]string{
		toolHome + "top/a.go":   "package top\nimport \"m/" + toolHome + "low\"",
		toolHome + "low/a.go":   "package low\nimport \"m/" + toolHome + "top\"",
		toolHome + "other/a.go": "package other",
	})
	page := "### The command line\n\n| package | has | imports |\n|---|---|---|\n| `top` | x | `low`, `gone` |\n| `low` | y | `top` |\n| `gone` | z | none of them |\n"
	expect(t, toolFindings(tr, page),
		toolHome+"low:0: tool: it imports top, which the table does not have below it",
		toolHome+"other:0: tool: it is not in the table of ARCHITECTURE.md",
		toolHome+"top:0: tool: it does not import gone, as the table says")
}
