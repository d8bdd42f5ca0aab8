package determinism_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/determinism"
)

// needsGo skips a test where programs cannot be started.
func needsGo(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip(runtime.GOOS + " starts no programs")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
}

// withoutFacts does not complain of facts: what they say is seen where another package calls.
type withoutFacts struct{ *testing.T }

func (t withoutFacts) Errorf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, ": unexpected fact: ") {
		t.Error(text)
	}
}

// Each rule has a bad example, in which lines are marked that must be found, and a good one, in which nothing must be.
// What is suggested for a bad one stands in its golden file. The folder "scope" is about what is looked at.
func TestRules(t *testing.T) {
	needsGo(t)
	analysistest.RunWithSuggestedFixes(withoutFacts{t}, analysistest.TestData(), determinism.Analyzer, "rules/...", "scope/...")
}
