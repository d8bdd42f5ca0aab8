package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var errFailed = errors.New("ci: failed")

// goTest is the command "ci test". It runs gotestsum, which runs go test. Up to three tests that fail run once more, and are
// named if they pass then. Only a test with sockets and clocks may: elsewhere the same code gives the same result.
func goTest(args []string, out io.Writer) error {
	set := flag.NewFlagSet("ci test", flag.ContinueOnError)
	name := set.String("events", "", "keep the events under this `name`, for the sums")
	times := set.String("times", "", "append the processor time of each test binary to this `file`")
	if err := set.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "ci")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	events := filepath.Join(folder, "events")
	if *name != "" {
		events = filepath.Join(os.Getenv("CI_LOGS"), *name+".events")
	}
	flags, packages := split(set.Args())
	if len(packages) == 0 {
		return errors.New("ci: test: no package is named")
	}
	if *times != "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		flags = append(flags, fmt.Sprintf("-exec=%s timed %s", self, *times))
	}
	again := filepath.Join(folder, "again")
	cmd := exec.Command("gotestsum", append([]string{"--format", "none", "--no-color", "--hide-summary", "skipped", "--jsonfile", events,
		"--rerun-fails=1", "--rerun-fails-max-failures=3", "--rerun-fails-report", again, "--packages", strings.Join(packages, " "),
		"--", "-count=1", "-timeout", "30m"}, flags...)...)
	cmd.Stdout, cmd.Stderr = out, out
	failed := cmd.Run()
	if err := namedAgain(out, again); err != nil {
		failed = errors.Join(failed, err)
	}
	read, err := os.ReadFile(events)
	if err != nil {
		return errors.Join(failed, err)
	}
	sum := tally{}
	err = errors.Join(printSkips(out, bytes.NewReader(read)), readEvents(bytes.NewReader(read), sum.see))
	fmt.Fprintln(out, sum.counts())
	return errors.Join(failed, err)
}

// split parts flags of go test from packages.
func split(args []string) (flags, packages []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "./") || strings.HasPrefix(a, module+"/") || a == module {
			packages = append(packages, a)
		} else {
			flags = append(flags, a)
		}
	}
	return flags, packages
}

const module = "github.com/seed-49bee653/samestep"

// failedTwice is the end of a line of gotestsum's report for a test that did not pass at its second try either.
const failedTwice = ": 2 runs, 2 failures"

// namedAgain prints the tests that passed at their second try, from gotestsum's report. One that does not depend on clocks is
// an error.
func namedAgain(out io.Writer, report string) (err error) {
	text, readErr := os.ReadFile(report)
	if readErr != nil && !os.IsNotExist(readErr) {
		return readErr
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasSuffix(line, failedTwice) {
			continue
		}
		fmt.Fprintln(out, "ran again:", line)
		if !timedTest.MatchString(line) {
			err = fmt.Errorf("ci: a test without sockets and clocks must not need to run again: %s", line)
		}
	}
	return err
}

// long is the command "ci long": the tests with a long form run in it.
func long(args []string, out io.Writer) error {
	set := flag.NewFlagSet("ci long", flag.ContinueOnError)
	in := set.String("in", "", "only packages that match this `expression`")
	notIn := set.String("not-in", "^$", "only packages that do not match this `expression`")
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() != 1 {
		return fmt.Errorf("ci: long: got %d arguments, want the name of the kept events", set.NArg())
	}
	only, err := regexp.Compile(*in)
	if err != nil {
		return fmt.Errorf("ci: long: -in: %w", err)
	}
	but, err := regexp.Compile(*notIn)
	if err != nil {
		return fmt.Errorf("ci: long: -not-in: %w", err)
	}
	f, err := os.Open(filepath.Join(os.Getenv("CI_LOGS"), set.Arg(0)+".events"))
	if err != nil {
		return fmt.Errorf("ci: long: the step %q has kept no events, so name it, too: %w", set.Arg(0), err)
	}
	defer f.Close()
	packages, functions, err := longForms(f, func(pkg string) bool { return only.MatchString(pkg) && !but.MatchString(pkg) })
	if err != nil {
		return err
	}
	name := fmt.Sprintf("long-%x", sha256.Sum256([]byte(*in+*notIn)))
	return goTest(append([]string{"-events", name, "--", "-vet=off", "-run", "^(" + strings.Join(functions, "|") + ")$"}, packages...), out)
}
