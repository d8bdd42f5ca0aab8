package mutants

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// testTimeout limits the tests of one mutant, and those of all mutants of a package.
const testTimeout, allTestsTimeout = time.Minute, 4 * time.Minute

// errTests is returned if the tests of mutants fail without any mutant.
var errTests = errors.New("mutants: the tests fail without any mistake")

// buildTests builds the tests of each package with the mutants that they must find,
// and checks that they pass without any mutant. These mutants are in code that the
// simulator does not run, such as sockets and HTTP.
func (h *Hunt) buildTests() error {
	byPackage := map[string][]*place{}
	for _, m := range h.places {
		if m.Test != "" {
			pkg, _ := m.tests()
			byPackage[pkg] = append(byPackage[pkg], m)
		}
	}
	packages := slices.Sorted(maps.Keys(byPackage))
	return h.each(len(packages), func(i int) error {
		pkg := packages[i]
		var all []string
		for _, m := range byPackage[pkg] {
			_, names := m.tests()
			all = append(all, names)
		}
		if _, err := h.goBuild(woven(byPackage[pkg], choice), testProgram(pkg), "test", "-c", "./"+pkg); err != nil {
			return err
		}
		found, err := h.runTests(pkg, strings.Join(all, "|"), 0)
		if err == nil && found != "" {
			err = fmt.Errorf("%w: %s: %s", errTests, pkg, found)
		}
		return err
	})
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
