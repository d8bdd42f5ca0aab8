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

Every machine of a match has to compute the same states, bit by bit. ` + "`samestep vet`" + ` reads the code of a game and finds constructs
that may differ between machines. A test writes this page from the rules and from their examples (` + "`kit/determinism`" + `).

    samestep vet ./...
    go vet -vettool=$(which samestep) ./...
    go vet -vettool=$(which samestep) -fix ./...

The last command also fixes loops over maps, unstable sorts, and native arithmetic of fixed-point numbers.

The analyzer checks the types of states, configurations and commands. It checks the functions that a game gives to ` + "`lockstep.Rules`" + ` as ` + "`Assets`" + `,
` + "`Load`" + `, ` + "`New`" + `, ` + "`Step`" + `, ` + "`Derive`" + `, ` + "`Validate`" + ` and ` + "`SelfTest`" + `, the ` + "`refuse`" + ` of ` + "`lockstep.View`" + `, and all functions that these call. It reports a finding in another package at the call. It follows function
values to all places that name the function, and methods of an interface to all visible types that have them. A comment before another function,
or before a package clause, adds that function or package:

    //samestep:deterministic

A comment allows a harmless finding, with a reason. It applies to its own line, or to the next line if it stands alone; before a declaration it
applies to the declaration, and before the package clause to the file.

    //samestep:allow RULE reason

In a package that is marked as a whole, the rule "memory" is for the functions of a game alone. The analyzer does not see excluded code, tests, assembly (the rule "unseen"), reflection, overflow of int on 32-bit machines, formats that are
not constants, and aliased pointers. It reads code and proves nothing: the checks of ` + "`kit/locksteptest`" + ` run the game.
`

var (
	exampleHead = regexp.MustCompile(`(?s)\A//samestep:deterministic\npackage \w+\n\n(?:import (?:"[^"]+"\n|\([^)]*\)\n)\n)?`)
	wantComment = regexp.MustCompile("[ \t]*// want `.*")
)

// docs/determinism-rules.md is generated from the rules and their examples; -rewrite writes it.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, r := range determinism.Rules() {
		b.WriteString("\n## " + r.Name + "\n\nWhy: " + r.Why + ". Instead: " + r.Instead + ".\n")
		for _, kind := range []string{"bad", "good"} {
			b.WriteString("\n" + strings.ToUpper(kind[:1]) + kind[1:] + ":\n\n```golang\n" + example(t, r.Name, kind) + "```\n")
		}
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

// example returns an example without the parts that only the test needs.
func example(t *testing.T, rule, kind string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "src", "rules", rule, kind, kind+".go"))
	if err != nil {
		t.Fatal(err)
	}
	if !exampleHead.Match(b) {
		t.Errorf("%s/%s has not the form of an example", rule, kind)
	}
	if marks := strings.Contains(string(b), "// want `"+rule+": "); marks != (kind == "bad") {
		t.Errorf("%s/%s: got lines that must be found: %v", rule, kind, marks)
	}
	var out strings.Builder
	for line := range strings.Lines(exampleHead.ReplaceAllString(string(b), "")) {
		out.WriteString(wantComment.ReplaceAllString(strings.TrimRight(line, "\n"), "") + "\n")
	}
	return out.String()
}
