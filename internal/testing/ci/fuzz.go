package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A target is a function for go test -fuzz.
type target struct{ folder, name string }

// determinism lists the targets that compute a game in several ways. They run every day, and take long for each execution.
var determinism = []target{
	{"fuzz", "FuzzNull"}, {"fuzz", "FuzzMinimal"}, {"fuzz", "FuzzSkirmish"},
	{"examples/minimal", "FuzzMatch"}, {"examples/platforms", "FuzzMatch"}, {"examples/skirmish", "FuzzStep"},
	{"fixed/grid", "FuzzCaches"}, {"fixed/bodies", "FuzzCrowd"}, {"cmd/samestep/tool/internal/scaffold/rules", "FuzzMatch"},
}

// floor is how many new inputs a target must execute in a second of fuzzing. Matches take long; parsers reach thousands.
const floor = 1

// fuzz is the command "ci fuzz". By day it fuzzes what compares games, and the targets of packages that have changed since a
// revision. A failing input is left in the package's testdata, to be committed with the fix.
func fuzz(args []string, out io.Writer) error {
	set := flag.NewFlagSet("ci fuzz", flag.ContinueOnError)
	all := set.Bool("all", false, "fuzz every target")
	seconds := set.Int("seconds", 60, "seconds in all, divided equally")
	since := set.String("since", "", "`revision` since which a package has changed (default: where the branch left origin/main, or that of a day ago)")
	if err := set.Parse(args); err != nil {
		return err
	}
	targets, err := findTargets(".")
	if err != nil {
		return err
	}
	if !*all {
		changed, err := changedFolders(*since)
		if err != nil {
			return err
		}
		targets = byDay(targets, changed)
	}
	if len(targets) == 0 {
		return errors.New("ci: fuzz: no target was found")
	}
	each := max(3, *seconds/len(targets)) // a second can pass with the inputs that are known
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "test")
	built := ""
	for _, t := range targets {
		if t.folder != built {
			if text, err := exec.Command("go", "test", "-vet=off", "-c", "-fuzz", ".", "-o", binary, "./"+t.folder).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			built = t.folder
		}
		if err := t.fuzz(binary, filepath.Join(dir, t.folder), each, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d targets, %d s each\n", len(targets), each)
	return nil
}

// byDay returns the targets that compare games, and those whose folders have changed.
func byDay(targets []target, changed []string) []target {
	return slices.DeleteFunc(targets, func(t target) bool {
		return !slices.Contains(determinism, t) && !slices.Contains(changed, t.folder)
	})
}

// findTargets returns all fuzz targets of the module whose go.mod lies in the folder, in the order of their folders.
func findTargets(root string) (targets []target, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root:
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets = append(targets, target{filepath.ToSlash(folder), f.Name.Name})
			}
		}
		return nil
	})
	return targets, err
}

// changedFolders returns the folders with Go files that have changed since a revision of git.
func changedFolders(since string) ([]string, error) {
	if since == "" {
		base, err := exec.Command("git", "merge-base", "HEAD", "origin/main").Output()
		head, headErr := exec.Command("git", "rev-parse", "HEAD").Output()
		if err == nil && headErr == nil && string(base) != string(head) {
			since = strings.TrimSpace(string(base))
		}
	}
	if since == "" {
		out, err := exec.Command("git", "rev-list", "-1", "--before=1 day ago", "HEAD").Output()
		if err != nil {
			return nil, fmt.Errorf("ci: fuzz: git does not say what has changed: %w", err)
		}
		if since = strings.TrimSpace(string(out)); since == "" { // a shallow or young clone
			since = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // the empty tree: everything has changed
		}
	}
	out, err := exec.Command("git", "diff", "--name-only", since).Output()
	if err != nil {
		return nil, fmt.Errorf("ci: fuzz: git does not say what has changed since %s: %w", since, err)
	}
	return foldersOf(string(out)), nil
}

// foldersOf returns the folders of the Go files in a list of names that are no tests.
func foldersOf(names string) (folders []string) {
	for name := range strings.Lines(names) {
		if name = strings.TrimSpace(name); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			folders = append(folders, path.Dir(name))
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

var (
	executions = regexp.MustCompile(`(?m)^fuzz: elapsed: .*, execs: (\d+) `)
	known      = regexp.MustCompile(`(?m)^fuzz: elapsed: .*, gathering baseline coverage: \d+/(\d+) completed`) // inputs that are run first
	failing    = regexp.MustCompile(`(?m)^\s*Failing input written to (\S+)`)
)

// fuzz fuzzes one target, and prints its executions. It tries again if the target failed only because the time ended while a
// worker was busy, which Go reports as a failure, and for a longer time if it ran too little. Inputs that reach new code are hardly minimized, which would take all the time.
func (t target) fuzz(binary, cache string, seconds int, out io.Writer) error {
	length := time.Duration(seconds) * time.Second
	for try := 1; ; try++ {
		cmd := exec.Command(binary, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", length.String(),
			"-test.fuzzminimizetime", "5x", "-test.fuzzcachedir", cache,
			"-test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0))) // testenv.Overlap would start more workers than there are processors
		cmd.Dir = filepath.FromSlash(t.folder)
		text, err := cmd.CombinedOutput()
		input := failing.FindSubmatch(text)
		if err != nil && input == nil && try < 3 && strings.Contains(string(text), "context deadline exceeded") {
			continue
		}
		if err != nil {
			if input != nil {
				bytes, readErr := os.ReadFile(filepath.Join(cmd.Dir, string(input[1])))
				err = errors.Join(err, readErr)
				text = append(text, bytes...)
			}
			return fmt.Errorf("%s%s in %s: %w", text, t.name, t.folder, err)
		}
		n, err := t.enough(string(text), seconds)
		if err != nil && try < 3 {
			length *= 3 // the machine is busy
			continue
		}
		fmt.Fprintf(out, "%9d executions of %s in %s\n", n, t.name, t.folder)
		return err
	}
}

// enough returns how many executions the output of a fuzzer tells, without those of inputs that are known, and an error if
// these are too few.
func (t target) enough(text string, seconds int) (int, error) {
	n := lastNumber(executions, text) - lastNumber(known, text)
	if n < floor*seconds {
		return n, fmt.Errorf("%s in %s: got %d executions, want at least %d:\n%s", t.name, t.folder, n, floor*seconds, text)
	}
	return n, nil
}

// lastNumber returns the number in the last match of an expression, or 0.
func lastNumber(e *regexp.Regexp, text string) int {
	found := e.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	n, err := strconv.Atoi(found[len(found)-1][1])
	if err != nil {
		return math.MaxInt // digits that do not fit
	}
	return n
}
