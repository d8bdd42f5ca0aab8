package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// testTimeout limits the tests of one mutant, and those of all mutants of a package.
const testTimeout, allTestsTimeout = time.Minute, 4 * time.Minute

// errTests is returned if the tests of mutants fail without any mutant.
var errTests = errors.New("mutants: the tests fail without any mistake")

// testPackage builds the tests of a package with the mutants that they must find, checks that they pass without any mutant, and hunts
// each. These mutants are in code that the simulator does not run, such as sockets and HTTP. It leaves no program, because those
// of all packages need more room than a small disk has.
func (h *Hunt) testPackage(all []*place, hunt func(*place) error) error {
	pkg, _ := all[0].tests()
	var names []string
	for _, m := range all {
		_, of := m.tests()
		names = append(names, of)
	}
	program, err := h.goBuild(woven(all, choice), testProgram(pkg), "test", "-c", "./"+pkg)
	if err != nil {
		return err
	}
	defer os.Remove(program)
	found, err := h.runTests(pkg, strings.Join(names, "|"), 0)
	if err == nil && found != "" {
		err = fmt.Errorf("%w: %s: %s", errTests, pkg, found)
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range all {
		errs = append(errs, hunt(m))
	}
	return errors.Join(errs...)
}

// testProgram returns the name of the test program of a package.
func testProgram(pkg string) string { return strings.ReplaceAll(pkg, "/", "-") + ".test" }

// runTests runs tests with one mutant. It returns the first line of a failure, or
// nothing if all pass.
func (h *Hunt) runTests(pkg, tests string, number int) (found string, err error) {
	limit := testTimeout
	if number == 0 {
		limit = allTestsTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	run := exec.CommandContext(ctx, filepath.Join(h.dir, testProgram(pkg)), "-test.short", "-test.run", "^("+tests+")$")
	run.Dir = h.path(pkg)
	run.Env = append(os.Environ(), inForce+"="+strconv.Itoa(number))
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "does not end", nil
	case !errors.As(err, &exit):
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.Contains(line, ".go:") || strings.HasPrefix(line, "panic:") {
			return line, nil
		}
	}
	return "fails", nil
}
