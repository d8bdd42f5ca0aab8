package faultinjection

import (
	_ "embed"
	"os/exec"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/mutants"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

//go:embed testdata/rulebugs.txt
var ruleBugList string

func ruleBugs(t *testing.T) []mutants.Mutant {
	t.Helper()
	all, err := mutants.Parse(ruleBugList)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Explain names the tick and the field of mistakes in the source of the example games, and no false cause.
func TestRuleBugs(t *testing.T) {
	testenv.Long(t)
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	const root = "../../.."
	overlay, err := mutants.Overlay(root, ruleBugs(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-tags", "woven", "-overlay", overlay, "-count=1", "-v", "-run", "^TestWoven", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
