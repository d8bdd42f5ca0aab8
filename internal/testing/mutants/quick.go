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

// A quick test looks for mistakes in what the simulator has none of, such as
// sockets and HTTP. The tests of a package are built once, with all of its mistakes.

// hasty is how long the tests of a mutant may take.
const hasty = time.Minute

// errSlow is returned if the tests that are to find mutants fail without any.
var errSlow = errors.New("mutants: the tests fail without any mistake")

// buildTests builds the tests of the packages whose mutants they are to find, and
// runs them without a mistake.
func (h *Hunt) buildTests(dir string) error {
	h.tests = map[string]string{}
	byPackage, all := map[string][]woven{}, map[string][]string{}
	for i := range h.Mutants {
		if m := &h.Mutants[i]; m.Test != "" {
			pkg := path.Dir(m.File)
			byPackage[pkg] = append(byPackage[pkg], woven{m, i + 1})
			all[pkg] = append(all[pkg], m.Test)
		}
	}
	for pkg, list := range byPackage {
		files, err := h.woven(list)
		if err != nil {
			return err
		}
		for _, m := range list {
			if h.numbers[m.Mutant] == 0 {
				return fmt.Errorf("%s cannot be woven", m.Name)
			}
		}
		out := strings.ReplaceAll(pkg, "/", "-") + ".test"
		if h.tests[pkg], err = h.build(files, dir, out, "test", "-c", "./"+pkg); err != nil {
			return err
		}
		if found, err := h.runTests(pkg, strings.Join(all[pkg], "|"), 0); err != nil || found != "" {
			return errors.Join(fmt.Errorf("%w: %s: %s", errSlow, pkg, found), err)
		}
	}
	return nil
}

// runTests runs tests with one mistake, and returns the first line that tells of a
// failure; nothing if all pass.
func (h *Hunt) runTests(pkg, tests string, number int) (found string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), hasty)
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
