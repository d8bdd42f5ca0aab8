// Package testenv skips tests that need a missing program, or fails them in CI.
//
// A test that needs something optional (a browser, an emulator, the go command) looks for
// it and gives the error to [Or]. Run by hand, the test then skips with a message. The
// script .ci/run sets SAMESTEP_REQUIRE=1, which makes it fail.
//
//	path, err := exec.LookPath("chromium")
//	testenv.Or(t, "chromium", err)
//
// [Long] leaves a test to .ci/run that takes long and repeats what another one shows in small. A test with a long form and
// a small one asks [Small]. [Named] is a Long that the flag -run asks for, too. [Night] leaves a test to the nights of
// .ci/run, if there is a shorter one by day.
//
// [Overlap] runs more tests at once in a package whose tests mostly wait. [SmallHeaps] spares the garbage collector.
package testenv

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// variable turns skips into failures. No other package reads it: .ci/run would not know which tests have a long form.
const variable = "SAMESTEP_REQUIRE"

const nightVariable = "SAMESTEP_CI_NIGHT"

// Or ends the test unless err is nil: it fails the test if SAMESTEP_REQUIRE is set, and else
// skips it. what is the missing program.
func Or(t testing.TB, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv(variable) != "":
		t.Fatalf("%s is missing, and required because %s is set: %v", what, variable, err)
	default:
		t.Skipf("%s is missing: %v", what, err)
	}
}

// Small reports whether the test keeps to its small form: with the flag -short, and unless SAMESTEP_REQUIRE is set. The test then
// logs so, for .ci/run.
func Small(t testing.TB) bool {
	t.Helper()
	if small() {
		t.Log("small: .ci/run tests the long form")
	}
	return small()
}

func small() bool { return testing.Short() || os.Getenv(variable) == "" }

// Long skips the test if [Small].
func Long(t testing.TB) {
	t.Helper()
	if small() {
		t.Skipf("long: .ci/run runs it, as %s=1 without -short does", variable)
	}
}

// Named skips the test as [Long] does, unless the flag -run names tests.
func Named(t testing.TB) {
	t.Helper()
	if testing.Short() || small() && flag.Lookup("test.run").Value.String() == "" {
		t.Skipf("long: name it with -run; .ci/run runs it, as %s=1 without -short does", variable)
	}
}

// Night skips the test unless [ByNight].
func Night(t testing.TB) {
	t.Helper()
	if !ByNight(t) {
		t.Skipf("at night: .ci/run runs it with %s=1", nightVariable)
	}
}

// ByNight reports whether the test takes its longest form. If it would in a later step of the night, it logs so, as [Small] does.
func ByNight(t testing.TB) bool {
	t.Helper()
	night := os.Getenv(nightVariable) != ""
	if night && small() {
		t.Log("small: .ci/run tests the long form")
	}
	return night && !small()
}

// Overlap lets up to n parallel tests run at once, however few processors the machine has. Call it in TestMain, before the
// flags are parsed, in a package whose tests mostly wait for sockets and clocks. The flag -parallel still decides.
func Overlap(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the testing package has registered the flag before TestMain
	}
}

// SmallHeaps collects garbage less often than usual, which costs the tests of a package with small heaps a fifth less. Call it in
// TestMain. Benchmarks measure with the usual collector.
func SmallHeaps() {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}
