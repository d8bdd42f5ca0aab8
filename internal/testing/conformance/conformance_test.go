package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const dir = "../../../testdata/conformance"

func readCase(file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
}

// The builders make the files and the index byte for byte, and this implementation gives
// each file the right verdict.
func TestSuite(t *testing.T) {
	built, text := builtOnce()
	if script.Rewrite() {
		write(t, built, text)
	}
	onDisk, err := readCase("index.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(onDisk, text) {
		t.Error("index.json differs from that of the builders: run the test with -rewrite and read the diff")
	}
	index, err := ParseIndex(onDisk)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range Check(index, readCase) {
		t.Error(wrong)
	}
	for _, c := range built {
		if b, err := readCase(c.File); err != nil || !bytes.Equal(b, c.Content) {
			t.Errorf("%s differs from that of its builder (%v)", c.File, err)
		}
	}
	checkNames(t, index)
}

// builtOnce is what Build returns.
var builtOnce = sync.OnceValues(func() ([]Built, []byte) {
	built, text, err := Build()
	if err != nil {
		panic(err)
	}
	return built, text
})

// write replaces the whole suite on the disk.
func write(t *testing.T, built []Built, index []byte) {
	t.Helper()
	for kind := range runners {
		if err := os.RemoveAll(filepath.Join(dir, kind)); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string, b []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range built {
		put(c.File, c.Content)
	}
	put("index.json", index)
}

// checkNames compares the index with the files on the disk.
func checkNames(t *testing.T, index *Index) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range index.Cases {
		base := strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
		if known[c.ID] || base != c.ID || !strings.HasPrefix(c.File, c.Kind+"/") || len(c.Rules) == 0 || !strings.HasSuffix(c.About, ".") {
			t.Errorf("case %s: want a unique id that is the name of the file, a rule, and a sentence", c.ID)
		}
		known[c.ID] = true
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != len(index.Cases) {
		t.Errorf("got %d files and %v, want %d, one for each case", len(files), err, len(index.Cases))
	}
}

// ruleID is a rule's name in a document.
var ruleID = regexp.MustCompile(`\[([A-Z]-[a-z0-9-]+)\]`)

// documents returns the pages with rules.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../../docs/spec/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("got no specifications: %v", err)
	}
	pages := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(name)] = string(b)
	}
	return pages
}

// The suite has a message of every kind that the protocol describes.
func TestEveryKindOfMessage(t *testing.T) {
	seen := map[any]bool{}
	for _, m := range goodMessages() {
		seen[runMessage(m.Content).Expect["message"]] = true
	}
	for k := range 256 {
		if name := protocol.Kind(k).String(); name != fmt.Sprintf("kind %d", k) && !seen[name] {
			t.Errorf("no case has a message of kind %s", name)
		}
	}
}

// Each rule of a document has a case, and each rule of a case is in a document.
func TestRules(t *testing.T) {
	for _, wrong := range compareRules(documents(t), suite(t)) {
		t.Error(wrong)
	}
}

// suite returns the index on the disk.
func suite(t *testing.T) *Index {
	t.Helper()
	b, err := readCase("index.json")
	if err != nil {
		t.Fatal(err)
	}
	index, err := ParseIndex(b)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// compareRules returns the differences between the rules of the pages and those of the
// cases.
func compareRules(pages map[string]string, index *Index) []string {
	var wrong []string
	inPages, inCases := map[string]string{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range ruleID.FindAllStringSubmatch(pages[name], -1) {
			if other, ok := inPages[m[1]]; ok {
				wrong = append(wrong, fmt.Sprintf("%s stands in %s and in %s", m[1], other, name))
			}
			inPages[m[1]] = name
		}
	}
	for _, c := range index.Cases {
		for _, r := range c.Rules {
			inCases[r] = true
			if inPages[r] == "" {
				wrong = append(wrong, c.ID+": no document has the rule "+r)
			}
		}
	}
	for r := range inPages {
		if !inCases[r] {
			wrong = append(wrong, r+" has no case")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// Files of one match have the same content hash, however they are recorded.
func TestContentIsOne(t *testing.T) {
	facts := map[string]map[string]any{}
	for _, c := range suite(t).Cases {
		facts[c.ID] = c.Expect
	}
	want := facts["standard"]
	for _, id := range []string{"batches", "sealed", "segment-then-batch", "signed", "content-same"} {
		if facts[id]["content"] == nil || facts[id]["content"] != want["content"] {
			t.Errorf("%s: got content %v, want %v", id, facts[id]["content"], want["content"])
		}
	}
	other := facts["content-other-end"]
	if other["content"] == want["content"] || factText(other["upto"].(map[string]any)) != factText(want["upto"].(map[string]any)) {
		t.Errorf("got %v and %v, want another content and the same up to a tick", other, want)
	}
}

// Control: the checks notice a wrong verdict, a wrong fact, a changed file, and rules
// without cases.
func TestControl(t *testing.T) {
	index := suite(t)
	for i := range index.Cases {
		c := &index.Cases[i]
		one := &Index{Format: 1, Cases: []Case{*c}}
		if one.Cases[0].Verdict = "no verdict"; len(Check(one, readCase)) != 1 {
			t.Errorf("%s: a wrong verdict is not noticed", c.ID)
		}
	}
	c := index.Cases[slices.IndexFunc(index.Cases, func(c Case) bool { return c.ID == "standard" })]
	c.Expect["commands"] = json.Number("99")
	if wrong := Check(&Index{Cases: []Case{c}}, readCase); len(wrong) != 1 {
		t.Errorf("a wrong fact: got %q", wrong)
	}
	changed := func(file string) ([]byte, error) {
		b, err := readCase(file)
		b[100] ^= 1
		return b, err
	}
	if wrong := Check(&Index{Cases: []Case{c}}, changed); len(wrong) != 1 {
		t.Errorf("a changed file: got %q", wrong)
	}
	pages := map[string]string{"a.md": "[F-a] and [F-b] [F-a]", "b.md": "[F-b], F-a [P-x]"}
	got := compareRules(pages, &Index{Cases: []Case{{ID: "one", Rules: []string{"F-a", "F-c"}}}})
	want := []string{"F-a stands in a.md and in a.md", "F-b has no case", "F-b stands in a.md and in b.md", "P-x has no case", "one: no document has the rule F-c"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
