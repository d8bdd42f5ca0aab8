package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines writes events from "server TestA fail". A test named "-" stands for the package as a whole. The fourth field is the output.
func lines(list ...string) string {
	var b strings.Builder
	for _, l := range list {
		f := strings.SplitN(l, " ", 4)
		output := ""
		if len(f) > 3 {
			output = f[3] + "\n"
		}
		fmt.Fprintf(&b, "{\"Package\":%q,\"Test\":%q,\"Action\":%q,\"Output\":%q}\n", module+"/"+f[0], strings.Trim(f[1], "-"), f[2], output)
	}
	return b.String()
}

func TestTally(t *testing.T) {
	for _, row := range []struct {
		name, events, want string
	}{
		{"each end", lines("state TestA pass", "state TestA/row pass", "state TestB fail", "state TestC skip", "state - fail"), "2 passed, 1 failed, 1 skipped"},
		{"no package fails twice", lines("state TestB fail", "state - fail"), "0 passed, 1 failed, 0 skipped"},
		{"a package that does not build", lines("state - fail"), "0 passed, 1 failed, 0 skipped"},
		{"a second try with clocks", lines("server TestA fail", "server - fail", "server TestA pass", "server - pass"), "1 passed, 0 failed, 0 skipped"},
		{"a second try without clocks", lines("state TestA fail", "state - fail", "state TestA pass", "state - pass"), "0 passed, 1 failed, 0 skipped"},
		{"the long form of a test that was skipped", lines("state TestA skip", "state TestA pass"), "1 passed, 0 failed, 0 skipped"},
		{"the long form fails", lines("state TestA pass", "state TestA fail"), "0 passed, 1 failed, 0 skipped"},
		{"text", "go: downloading x\n" + lines("state TestA pass"), "1 passed, 0 failed, 0 skipped"},
	} {
		sum := tally{}
		if err := readEvents(strings.NewReader(row.events), sum.see); err != nil || sum.counts().String() != row.want {
			t.Errorf("%s: got %v, %v, want %s", row.name, sum.counts(), err, row.want)
		}
	}
}

func TestSkips(t *testing.T) {
	var b strings.Builder
	err := printSkips(&b, strings.NewReader(lines(
		"state TestA output     a_test.go:7: no browser", "state TestA skip",
		"state TestB output     b_test.go:9: no browser", "state TestB skip",
		"state TestC output     c_test.go:9: a note", "state TestC pass",
		"state TestD skip")))
	if want := "skipped: no reason: TestD\nskipped: no browser: TestA TestB\n"; err != nil || b.String() != want {
		t.Errorf("got %v and %q, want %q", err, b.String(), want)
	}
}

func TestLongForms(t *testing.T) {
	packages, functions, err := longForms(strings.NewReader(lines(
		"state TestA/row skip", "state TestB output     b_test.go:9: small: "+longForm, "state TestB pass", "replay TestC pass", "page TestA skip", "page - skip", "fuzz TestF skip")), func(pkg string) bool { return pkg != module+"/fuzz" })
	if err != nil || fmt.Sprint(packages, functions) != "["+module+"/page "+module+"/state] [TestA TestB]" {
		t.Errorf("got %v, %v, %v", packages, functions, err)
	}
}

// A test may need a second try only if it depends on clocks.
func TestNamedAgain(t *testing.T) {
	for _, row := range []struct{ report, want, err string }{
		{"", "", ""},
		{module + "/server.TestA: 2 runs, 1 failures\n\n", "ran again: " + module + "/server.TestA: 2 runs, 1 failures\n", ""},
		{module + "/state.TestA: 2 runs, 1 failures\n", "ran again: " + module + "/state.TestA: 2 runs, 1 failures\n", "must not need to run again"},
		{module + "/state.TestA: 2 runs, 2 failures\n", "", ""},
	} {
		name := filepath.Join(t.TempDir(), "report")
		if err := os.WriteFile(name, []byte(row.report), 0o600); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		err := namedAgain(&b, name)
		if b.String() != row.want || (err != nil) != (row.err != "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%q: got %v and %q, want %q and %q", row.report, err, b.String(), row.err, row.want)
		}
	}
	if err := namedAgain(&strings.Builder{}, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("without a report: got %v", err)
	}
}

func TestSplit(t *testing.T) {
	flags, packages := split([]string{"-run", "TestX", "./state", module + "/replay", "-exec", "/usr/bin/x"})
	if fmt.Sprint(flags, packages) != "[-run TestX -exec /usr/bin/x] [./state "+module+"/replay]" {
		t.Errorf("got %v and %v", flags, packages)
	}
}
