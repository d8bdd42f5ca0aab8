// Package testenv lets a test skip what a machine cannot do, and makes the same
// test fail where everything must be there.
//
// A test that needs something optional (a browser, an emulator, the go command)
// looks for it and gives the outcome to [Or]. Run by hand, the test then skips
// with a message. The script .ci/run sets SAMESTEP_REQUIRE=1, and there it fails.
//
//	path, err := exec.LookPath("chromium")
//	testenv.Or(t, "chromium", err)
package testenv

import (
	"os"
	"testing"
)

// Variable is the environment variable that turns skips into failures.
const Variable = "SAMESTEP_REQUIRE"

// Or returns if err is nil. Otherwise it ends the test, because what it needs is
// missing: as failed if [Variable] is set, else as skipped.
func Or(t testing.TB, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv(Variable) != "":
		t.Fatalf("%s is missing, and required because %s is set: %v", what, Variable, err)
	default:
		t.Skipf("%s is missing: %v", what, err)
	}
}
