package mutants

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Hunt runs the simulator on mutants. It needs the go command.
type Hunt struct {
	Root    string   // of the engine's checkout
	Mutants []Mutant // such as [All]
	Seeds   int      // seeds to play per mutant, after the corpus; 0: 240
	Workers int      // concurrent mutants; 0: GOMAXPROCS

	// Found is called with the result of each mutant, never concurrently. Nil
	// disables it.
	Found func(*Result)

	corpus string // pattern of the corpus files to play; "": all

	places  []*place // of the mutants
	dir     string   // of the programs
	program string   // the simulator with all mutants woven in
}

const (
	defaultSeeds = 240

	// huntTimeout limits the hunt of one mutant. A match that takes longer counts as one
	// that does not end.
	huntTimeout = 4 * time.Minute
)

// errViolated is returned if the engine without any mutant violates an invariant.
var errViolated = errors.New("mutants: the engine violates an invariant without any mistake in it")

// Run hunts each mutant, after it has checked that the engine itself violates nothing. The
// results have the order of the mutants. A surviving mutant is not an error.
func (h *Hunt) Run() ([]Result, error) {
	var err error
	if h.dir, err = os.MkdirTemp("", "mutants-*"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(h.dir)
	if err := h.build(); err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	seeds := cmp.Or(h.Seeds, defaultSeeds)
	r, err := h.one(&noMutant, min(seeds, 8))
	if err != nil {
		return nil, err
	}
	if r.Runs > 0 {
		return nil, fmt.Errorf("%w: %v", errViolated, &r)
	}
	results := make([]Result, len(h.Mutants))
	var mu sync.Mutex
	hunt := func(m *place) (err error) {
		r := &results[m.number-1]
		if *r, err = h.one(m, seeds); err == nil && h.Found != nil {
			mu.Lock()
			defer mu.Unlock()
			h.Found(r)
		}
		return err
	}
	simulated, tested := h.split()
	err = h.each(len(simulated), func(i int) error { return hunt(simulated[i]) })
	return results, errors.Join(err, h.each(len(tested), func(i int) error { return h.testPackage(tested[i], hunt) }))
}

// each calls a function with the numbers below n, by the workers, and returns all errors.
func (h *Hunt) each(n int, f func(i int) error) error {
	var wait sync.WaitGroup
	next, errs := make(chan int), make([]error, n)
	for range cmp.Or(h.Workers, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
	return errors.Join(errs...)
}

// build finds the mutants, and builds one simulator with those that it must find.
func (h *Hunt) build() (err error) {
	e := newEngine(h.Root)
	h.places = nil
	for i := range h.Mutants {
		p, err := e.place(&h.Mutants[i])
		if err != nil {
			return err
		}
		p.number = i + 1
		h.places = append(h.places, p)
	}
	simulated, _ := h.split()
	h.program, err = h.goBuild(woven(simulated, choice), "hunt", "build", "./internal/testing/mutants/hunt")
	return err
}

// split returns the mutants that the simulator must find, and those of the tests of each package. The packages with most mutants come
// first, so that no worker has one of them alone at the end.
func (h *Hunt) split() (simulated []*place, tested [][]*place) {
	byPackage := map[string][]*place{}
	for _, m := range h.places {
		if m.Test == "" {
			simulated = append(simulated, m)
			continue
		}
		pkg, _ := m.tests()
		byPackage[pkg] = append(byPackage[pkg], m)
	}
	for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		tested = append(tested, byPackage[pkg])
	}
	slices.SortStableFunc(tested, func(a, b []*place) int { return len(b) - len(a) })
	return simulated, tested
}

// noMutant stands for the engine without any mutant.
var noMutant = place{Mutant: &Mutant{Name: "the engine itself"}, file: &file{}}

// one plays with the engine of one mutant.
func (h *Hunt) one(m *place, seeds int) (r Result, err error) {
	r.Mutant, r.File = m.Mutant, m.file.name
	defer func() {
		if err != nil {
			err = fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
	}()
	if m.Test != "" {
		r.Invariant = "test"
		pkg, names := m.tests()
		if r.Text, err = h.runTests(pkg, names, m.number); r.Text != "" {
			r.Runs = 1
		}
		return r, err
	}
	matches, err := h.matches(m)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), huntTimeout)
	defer cancel()
	play := exec.CommandContext(ctx, h.program, append([]string{"-seeds", strconv.Itoa(seeds)}, matches...)...)
	play.Env = append(os.Environ(), inForce+"="+strconv.Itoa(m.number))
	out, err := play.CombinedOutput()
	return r, r.read(string(out), err, ctx.Err() != nil)
}

// matches returns the matches to play before those of the seeds from 1 on: that which finds
// the mutant soonest, and the corpus. The engine itself plays all that find a mutant.
func (h *Hunt) matches(m *place) ([]string, error) {
	all, err := filepath.Glob(h.corpusFile(cmp.Or(h.corpus, "*")))
	if err == nil && len(all) == 0 {
		err = errors.New("the simulator has no corpus")
	}
	if err != nil {
		return nil, err
	}
	best := []*place{m}
	if m == &noMutant {
		best = h.places
	}
	for _, m := range best {
		name := m.Match
		switch file := h.corpusFile(name); {
		case name == "":
			continue
		case slices.Contains(all, file):
			name = file
		case !isSeed(name):
			return nil, fmt.Errorf("%w: %s: match %q is neither a file of the corpus nor a seed", errList, m.Name, name)
		}
		all = slices.DeleteFunc(all, func(other string) bool { return other == name })
		all = slices.Insert(all, 0, name)
	}
	return all, nil
}

func isSeed(name string) bool {
	_, err := strconv.ParseUint(name, 10, 64)
	return err == nil
}

// corpusFile returns the path of a file of the simulator's corpus.
func (h *Hunt) corpusFile(name string) string {
	return h.path(path.Join("internal/testing/simulate/testdata/corpus", name+".json"))
}

// path returns the path of a file of the checkout.
func (h *Hunt) path(name string) string { return filepath.Join(h.Root, filepath.FromSlash(name)) }

// goBuild builds a program in the folder of the hunt, with changed or added files of the engine.
func (h *Hunt) goBuild(files map[string][]byte, name, verb string, args ...string) (program string, err error) {
	overlay, err := overlay(h.Root, files, h.dir, name)
	if err != nil {
		return "", err
	}
	program = filepath.Join(h.dir, name)
	build := exec.Command("go", append([]string{verb, "-ldflags=-w", "-o", program, "-overlay", overlay}, args...)...)
	build.Dir = h.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// read reads the result from the program's output and exit. A program that panics or does
// not end has found the mutant as well.
func (r *Result) read(out string, ended error, late bool) error {
	var exit *exec.ExitError
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.SplitN(first, " ", 3)
	switch {
	case late:
		r.Runs, r.Invariant, r.Text = 1, "I10", "does not end"
	case errors.As(ended, &exit):
		r.Runs, r.Invariant, r.Text = 1, "I10", first
	case ended != nil:
		return ended
	case first == "":
		return nil
	case len(words) < 3:
		return fmt.Errorf("got %q of the simulator", first)
	default:
		r.Invariant, r.Text = words[1], words[2]
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 {
			return fmt.Errorf("got %q of the simulator", first)
		}
		r.Runs = n
	}
	return nil
}
