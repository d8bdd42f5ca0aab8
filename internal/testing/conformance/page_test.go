package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
)

const page = "../../../docs/conformance.md"

// The page names the cases of each rule. With -rewrite the table is written.
func TestPageNamesCases(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- rules -->\n", "<!-- end of rules -->"
	before, rest, ok := strings.Cut(string(text), from)
	_, after, ends := strings.Cut(rest, to)
	if !ok || !ends {
		t.Fatal("the page lacks the marks of the table")
	}
	want := before + from + ruleTable(suite(t)) + to + after
	if script.Rewrite() {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the table of cases differs from the index: run the test with -rewrite")
	}
}

// ruleTable returns the table of rules and their cases.
func ruleTable(index *Index) string {
	cases := map[string][]string{}
	for _, c := range index.Cases {
		for _, r := range c.Rules {
			cases[r] = append(cases[r], "`"+c.ID+"`")
		}
	}
	var rules []string
	for r := range cases {
		rules = append(rules, r)
	}
	slices.Sort(rules)
	var b strings.Builder
	b.WriteString("| rule | cases |\n|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| %s | %s |\n", r, strings.Join(cases[r], ", "))
	}
	return b.String()
}

// annotation is a row of the annotated file.
var annotation = regexp.MustCompile("(?m)^\\| (\\d+)(?:–(\\d+))? \\| `([0-9a-f]+)` \\|")

// The annotated bytes are those of the file, each once and in order.
func TestPageAnnotates(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	file, err := readCase("replay/annotated.ssr")
	if err != nil {
		t.Fatal(err)
	}
	if len(file) >= 500 {
		t.Errorf("the annotated file has %d bytes, want fewer than 500", len(file))
	}
	if wrong := compareAnnotation(string(text), file); wrong != "" {
		t.Error(wrong)
	}
	file[57] ^= 1
	if compareAnnotation(string(text), file) == "" {
		t.Error("control: a changed byte is not noticed")
	}
	if compareAnnotation(string(text), append(file, 0)) == "" {
		t.Error("control: a byte more is not noticed")
	}
}

// compareAnnotation returns the first difference between a page and a file.
func compareAnnotation(text string, file []byte) string {
	at := 0
	for _, row := range annotation.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(row[1])
		last := first
		if row[2] != "" {
			last, _ = strconv.Atoi(row[2])
		}
		b, err := hex.DecodeString(row[3])
		if err != nil || first != at || last != at+len(b)-1 || last >= len(file) || !bytes.Equal(b, file[first:last+1]) {
			return fmt.Sprintf("row %q: it should begin at byte %d, and have the bytes of the file", row[0], at)
		}
		at = last + 1
	}
	if at != len(file) {
		return fmt.Sprintf("got %d bytes annotated, want %d", at, len(file))
	}
	return ""
}
