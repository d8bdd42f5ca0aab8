package web_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/page"
)

var (
	used   = regexp.MustCompile(`\bt\(\s*("(?:[^"\\]|\\.)*")`)
	listed = regexp.MustCompile(`(?m)^  ("(?:[^"\\]|\\.)*"):\s+("(?:[^"\\]|\\.)*"),$`)
	values = regexp.MustCompile(`\{\w+\}`)
)

// The German table has all texts of the pages, with their values, and no other.
func TestGermanIsComplete(t *testing.T) {
	text := func(quoted string) (s string) {
		if err := json.Unmarshal([]byte(quoted), &s); err != nil {
			t.Errorf("%s: %v", quoted, err)
		}
		return s
	}
	table := make(map[string]string)
	file, err := fs.ReadFile(page.Parts(), "german.js")
	for _, row := range listed.FindAllSubmatch(file, -1) {
		english, german := text(string(row[1])), text(string(row[2]))
		if table[english] != "" {
			t.Errorf("%q is listed twice", english)
		}
		if !slices.Equal(valuesOf(english), valuesOf(german)) {
			t.Errorf("%q and %q have other values", english, german)
		}
		table[english] = german
	}
	if err != nil || strings.Count(string(file), "\n  \"") != len(table) {
		t.Errorf("got %d rows of another form, want \"English\": \"German\", each on a line: %v", strings.Count(string(file), "\n  \"")-len(table), err)
	}
	found := make(map[string]bool)
	for _, english := range said(t) {
		if found[english] = true; table[english] == "" {
			t.Errorf("the German table lacks %q, which the program says", english)
		}
	}
	for _, files := range []fs.FS{page.Parts(), page.Inspector(), web.Page()} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".js" || name == "text.js" {
				return err
			}
			script, err := fs.ReadFile(files, name)
			for _, call := range used.FindAllSubmatch(script, -1) {
				english := text(string(call[1]))
				if found[english] = true; table[english] == "" {
					t.Errorf("%s: the German table lacks %s", name, call[1])
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for english := range table { // a map: the order of complaints does not matter
		if !found[english] {
			t.Errorf("no page has the text %q of the German table", english)
		}
	}
	if len(found) < 50 {
		t.Errorf("got %d texts", len(found))
	}
}

// said returns the texts that the program says and the page translates: those of buttons, keys, kinds and tasks.
func said(t *testing.T) (texts []string) {
	texts = []string{
		"Vote to surrender", "Take the vote back", "Hide from spectators", "Show to spectators",
		"ally", "enemy", "defeated", "offer to you", "offer from you", "offer to you and from you", "training",
	}
	for _, k := range []skirmish.UnitKind{skirmish.Worker, skirmish.Soldier, skirmish.Archer, skirmish.Base, skirmish.Barracks, skirmish.Tower} {
		name := k.Traits().Name
		if texts = append(texts, name); name != "barracks" {
			texts = append(texts, name+"s")
		}
	}
	for _, source := range []struct{ file, texts string }{
		{"play/panel.go", `(?:Label|Hint): "([^"]+)"`}, {"play/affairs.go", `(?:Label|Hint): "([^"]+)"`}, {"page/actions.js", `label: "([^"]+)"`},
	} {
		text, err := os.ReadFile(source.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(source.texts).FindAllSubmatch(text, -1) {
			texts = append(texts, string(m[1]))
		}
		if names := regexp.MustCompile(`taskNames = .*\{(.*)\}`).FindSubmatch(text); names != nil {
			for _, name := range strings.Split(string(names[1]), ", ") {
				texts = append(texts, strings.Trim(name, `"`))
			}
		}
	}
	return texts
}

// valuesOf returns the names of a text's values, sorted.
func valuesOf(text string) []string {
	names := values.FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}
