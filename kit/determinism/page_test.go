package determinism_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/kit/determinism"
)

const pageHead = `# What a simulation must not do

Every machine of a match has to compute the same states, bit by bit. ` + "`samestep vet`" + ` reads a game's code and reports constructs that may differ between machines:

    samestep vet ./...
    go vet -vettool=$(which samestep) ./...
    go vet -vettool=$(which samestep) -fix ./...

` + "`-fix`" + ` mends loops over maps, unstable sorts, and native arithmetic of fixed-point numbers.

The analyzer checks the types of states, configurations and commands, the functions that a game gives to ` + "`lockstep.Rules`" + ` and ` + "`lockstep.View`" + `, and all functions that these call, also through function values and interfaces. A comment before another function or
a package clause adds that function or package:

    //samestep:deterministic

A comment allows a harmless finding, with a reason, on its line, on the next line, in the declaration or in the file that it precedes:

    //samestep:allow RULE reason

It does not see excluded code, tests, assembly, reflection, overflow of int on 32-bit machines, formats that are not constants, and aliased pointers. It proves nothing: the checks of ` + "`kit/locksteptest`" + ` run the game.
The folder ` + "`kit/determinism/testdata/src/rules`" + ` has bad and good examples of each rule.

| rule | why | instead |
|---|---|---|
`

var exampleHead = regexp.MustCompile(`(?s)\A//samestep:deterministic\npackage \w+\n\n(?:import (?:"[^"]+"\n|\([^)]*\)\n)\n)?`)

// docs/determinism-rules.md is generated from the rules and their examples; -rewrite writes it.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, r := range determinism.Rules() {
		b.WriteString("| `" + r.Name + "` | " + r.Why + " | " + r.Instead + " |\n")
		checkExample(t, r.Name, "bad")
		checkExample(t, r.Name, "good")
	}
	page := filepath.Join("..", "..", "docs", "determinism-rules.md")
	if script.Rewrite() {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Skipf("the page cannot be read: %v", err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("the page is not that of the rules (-want +got); run with -rewrite:\n%s", diff)
	}
}

// checkExample reports an example that has findings and is good, or has none and is bad.
func checkExample(t *testing.T, rule, kind string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "src", "rules", rule, kind, kind+".go"))
	if err != nil {
		t.Fatal(err)
	}
	if !exampleHead.Match(b) {
		t.Errorf("%s/%s does not begin like an example", rule, kind)
	}
	if marks := strings.Contains(string(b), "// want `"+rule+": "); marks != (kind == "bad") {
		t.Errorf("%s/%s: got lines that must be found: %v", rule, kind, marks)
	}
}
