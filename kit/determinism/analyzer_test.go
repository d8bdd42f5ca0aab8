package determinism_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/determinism"
)

// needsGo skips a test on platforms that cannot start programs.
func needsGo(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip(runtime.GOOS + " starts no programs")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
}

// withoutFacts ignores facts: their effect shows in the packages that call the functions.
type withoutFacts struct{ *testing.T }

func (t withoutFacts) Errorf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, ": unexpected fact: ") {
		t.Error(text)
	}
}

// Each rule has a bad example with marked lines that must be found, and a good one without findings. The suggested
// fixes of a bad one are in its golden file. The folder "scope" tests which functions are analyzed.
func TestRules(t *testing.T) {
	needsGo(t)
	analysistest.RunWithSuggestedFixes(withoutFacts{t}, analysistest.TestData(), determinism.Analyzer, "rules/...", "scope/...")
}
