package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"
)

// testTimeout limits the tests of one mutant.
const testTimeout = time.Minute

// errTests is returned if the tests of mutants fail without any mutant.
var errTests = errors.New("mutants: the tests fail without any mistake")

// buildTests builds the tests of each package with its mutants that have a Test,
// and checks that they pass without any mutant. These mutants are in code that the
// simulator does not run, such as sockets and HTTP.
func (h *Hunt) buildTests(dir string) error {
	h.tests = map[string]string{}
	byPackage := map[string][]*place{}
	for _, m := range h.places {
		if m.Test != "" {
			pkg := path.Dir(m.file.name)
			byPackage[pkg] = append(byPackage[pkg], m)
		}
	}
	for pkg, list := range byPackage {
		var all []string
		for _, m := range list {
			all = append(all, m.Test)
		}
		out := strings.ReplaceAll(pkg, "/", "-") + ".test"
		var err error
		if h.tests[pkg], err = h.goBuild(woven(list, choice), dir, out, "test", "-c", "./"+pkg); err != nil {
			return err
		}
		if found, err := h.runTests(pkg, strings.Join(all, "|"), 0); err != nil || found != "" {
			return errors.Join(fmt.Errorf("%w: %s: %s", errTests, pkg, found), err)
		}
	}
	return nil
}

// runTests runs tests with one mutant. It returns the first line of a failure, or
// nothing if all pass.
func (h *Hunt) runTests(pkg, tests string, number int) (found string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	run := exec.CommandContext(ctx, h.tests[pkg], "-test.short", "-test.run", "^("+tests+")$")
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
