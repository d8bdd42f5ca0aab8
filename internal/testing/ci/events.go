package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// An event is one line of "go test -json".
type event struct{ Action, Package, Test, Output string }

// readEvents calls see for each event. Other lines, such as what the compiler printed, are passed over.
func readEvents(r io.Reader, see func(event)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			see(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A testName names a test of a package. A package as a whole has the test "".
type testName struct{ pkg, test string }

// A tally has how each test ended.
type tally map[testName]string

// withClocks matches the packages whose tests have sockets and clocks, so that a busy machine can fail them.
const withClocks = `/(server|client|cluster(/(storage|objects|farm|mirror))?|cmd/samestep(/tool)?|cmd/samestep-cluster(/clustertool)?|internal/testing/(attack|browser)|page|examples/(minimal/online|platforms/compat|skirmish/web))`

var (
	timedPackage = regexp.MustCompile(withClocks + `$`)
	timedTest    = regexp.MustCompile(withClocks + `\.`) // as gotestsum names a test: package.Test
)

// see takes the end of a test. A test that failed may pass later if it depends on clocks. One that was skipped and then ran
// counts as what it then did.
func (t tally) see(e event) {
	if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return
	}
	name := testName{e.Package, e.Test}
	if before := t[name]; e.Test != "" && (before == "fail" && !timedPackage.MatchString(e.Package) || before == "pass" && e.Action == "skip") {
		return
	}
	t[name] = e.Action
}

func (t tally) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return readEvents(f, t.see)
}

// A count is how many tests ended in which way.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// counts counts the tests. A package that failed without a failed test counts as one.
func (t tally) counts() (c count) {
	failed := map[string]bool{}
	for name, action := range t {
		switch {
		case name.test == "":
		case action == "pass":
			c.passed++
		case action == "fail":
			c.failed++
			failed[name.pkg] = true
		default:
			c.skipped++
		}
	}
	for name, action := range t {
		if name.test == "" && action == "fail" && !failed[name.pkg] {
			c.failed++
		}
	}
	return c
}

// place is what a test prints before a message: its file and line.
var place = regexp.MustCompile(`^\s*\w+_test\.go:\d+: `)

// skips returns the tests that were skipped, by the reason that they gave.
func skips(r io.Reader) (map[string][]string, error) {
	said := map[testName]string{}
	reasons := map[string][]string{}
	err := readEvents(r, func(e event) {
		name := testName{e.Package, e.Test}
		switch {
		case e.Action == "output" && place.MatchString(e.Output):
			said[name] = strings.TrimSpace(place.ReplaceAllString(e.Output, ""))
		case e.Action == "skip" && e.Test != "":
			reasons[said[name]] = append(reasons[said[name]], e.Test)
		}
	})
	return reasons, err
}

// printSkips prints a line for each reason.
func printSkips(w io.Writer, r io.Reader) error {
	reasons, err := skips(r)
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		tests := reasons[reason]
		if reason == "" {
			reason = "no reason"
		}
		names := strings.Join(tests[:min(len(tests), 8)], " ")
		if len(tests) > 8 {
			names += fmt.Sprintf(" and %d more", len(tests)-8)
		}
		fmt.Fprintf(w, "skipped: %s: %s\n", reason, names)
	}
	return err
}

// longForms returns the packages of those to be chosen, and the functions in them, that skipped a test or took the small form
// of one, as the messages of package testenv say.
func longForms(r io.Reader, choose func(pkg string) bool) (packages, functions []string, err error) {
	err = readEvents(r, func(e event) {
		if e.Test != "" && choose(e.Package) && (e.Action == "skip" || e.Action == "output" && strings.Contains(e.Output, longForm)) {
			function, _, _ := strings.Cut(e.Test, "/")
			packages, functions = append(packages, e.Package), append(functions, function)
		}
	})
	slices.Sort(packages)
	slices.Sort(functions)
	return slices.Compact(packages), slices.Compact(functions), err
}

// longForm is a part of what testenv.Small logs.
const longForm = ".ci/run tests the long form"
