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

// The German tables have all texts of the pages and all sentences that Go makes, with their values, and no other.
func TestGermanIsComplete(t *testing.T) {
	table := germanTexts(t, "german.js")
	sentences := germanTexts(t, "sentences.js")
	blanks := make(map[string]bool)
	for english := range sentences {
		blanks[blankOf(english)] = true
		if table[english] != "" {
			t.Errorf("%q is listed twice", english)
		}
	}
	found := make(map[string]bool)
	want := func(english, where string) {
		if found[english] = true; table[english] == "" && sentences[english] == "" {
			t.Errorf("%s: the German table lacks %q", where, english)
		}
	}
	for _, english := range said(t) {
		want(english, "the program")
	}
	said := spoken(t)
	lacks := func(sentence string) bool { return !blanks[sentence] && table[sentence] == "" }
	for sentence, where := range said { // a map: the order of complaints does not matter
		if found[sentence] = true; lacks(sentence) {
			t.Errorf("%s: the German tables lack %q", where, sentence)
		}
	}
	for _, sentence := range sentencesOf(t, "x.go", `package x; func f() { n.line("link", -1, fmt.Sprintf("a sentence without German: at tick %d", 1)) }`, false) {
		if !lacks(sentence) {
			t.Errorf("%q is in the German tables", sentence)
		}
	}
	for _, files := range []fs.FS{page.Parts(), page.Inspector(), web.Page()} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".js" {
				return err
			}
			script, err := fs.ReadFile(files, name)
			for _, call := range used.FindAllSubmatch(script, -1) {
				want(unquoted(t, string(call[1])), name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for english := range table {
		if !found[english] {
			t.Errorf("no page has the text %q of the German table", english)
		}
	}
	for english := range sentences {
		if said[blankOf(english)] == "" && !found[english] {
			t.Errorf("nothing says the sentence %q of the German table", english)
		}
	}
	if len(found) < 500 {
		t.Errorf("got %d texts", len(found))
	}
}

// germanTexts returns the table of a module, by the English text.
func germanTexts(t *testing.T, name string) map[string]string {
	t.Helper()
	table := make(map[string]string)
	file, err := fs.ReadFile(page.Parts(), name)
	for _, row := range listed.FindAllSubmatch(file, -1) {
		english, german := unquoted(t, string(row[1])), unquoted(t, string(row[2]))
		if table[english] != "" {
			t.Errorf("%q is listed twice", english)
		}
		if !slices.Equal(valuesOf(english), valuesOf(german)) {
			t.Errorf("%q and %q have other values", english, german)
		}
		table[english] = german
	}
	if rows := strings.Count(string(file), "\n  \""); err != nil || rows != len(table) || rows == 0 {
		t.Errorf("%s: got %d rows, %d of them in the form \"English\": \"German\", each on a line: %v", name, rows, len(table), err)
	}
	return table
}

func unquoted(t *testing.T, quoted string) (text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(quoted), &text); err != nil {
		t.Errorf("%s: %v", quoted, err)
	}
	return text
}

// said returns the words that the program says and the page translates: those of kinds, tasks and how others stand.
func said(t *testing.T) (texts []string) {
	texts = []string{"ally", "enemy", "defeated", "offer to you", "offer from you", "offer to you and from you", "training"}
	for _, k := range []skirmish.UnitKind{skirmish.Worker, skirmish.Soldier, skirmish.Archer, skirmish.Base, skirmish.Barracks, skirmish.Tower} {
		name := k.Traits().Name
		if texts = append(texts, name); name != "barracks" {
			texts = append(texts, name+"s")
		}
	}
	for _, source := range []struct{ file, texts, words string }{
		{"play/panel.go", `taskNames = .*\{(.*)\}`, `"([^"]+)"`}, {"page/actions.js", `(?s)(.*)`, `label: "([^"]+)"`},
	} {
		text, err := os.ReadFile(source.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(source.words).FindAllSubmatch(regexp.MustCompile(source.texts).Find(text), -1) {
			texts = append(texts, string(m[1]))
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
