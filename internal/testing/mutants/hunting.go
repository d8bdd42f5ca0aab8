package mutants

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// A Hunt lets the simulator look for mutants. It needs the go command.
type Hunt struct {
	Root    string   // of the engine's checkout
	Mutants []Mutant // such as [All]
	Seeds   int      // that each has to survive, beside the corpus; 0: 240
	Workers int      // mutants at the same time; 0: as many as there are processors

	// Found is called for each mutant, by one goroutine at a time; nil for
	// nobody.
	Found func(*Death)

	corpus string // the files of the corpus that are played, as a pattern; "": all

	program string            // of the woven mutants
	tests   map[string]string // programs of tests, by package
	numbers map[*Mutant]int   // of the woven ones
}

// defaultSeeds is how many seeds a mutant has to survive.
const defaultSeeds = 240

// patience is how long one hunt may take: more, and it has found a match that
// does not come to its end.
const patience = 4 * time.Minute

// ErrViolated is returned if the engine as it is violates something.
var ErrViolated = errors.New("mutants: the engine violates an invariant without any mistake in it")

// Run hunts each mutant, and before all the engine as it is, in which nothing
// may be found. The deaths are in the order of the mutants. The error is of the
// hunt, not of mutants that live.
func (h *Hunt) Run() ([]Death, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := h.weave(dir); err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	seeds := cmp.Or(h.Seeds, defaultSeeds)
	d, err := h.one(nil, min(seeds, 8))
	if err != nil {
		return nil, err
	}
	if d.Runs > 0 {
		return nil, fmt.Errorf("%w: %v", ErrViolated, &d)
	}
	deaths := make([]Death, len(h.Mutants))
	var wait sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range cmp.Or(h.Workers, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := range next {
				d, failure := h.one(&h.Mutants[i], seeds)
				mu.Lock()
				deaths[i], err = d, errors.Join(err, failure)
				if failure == nil && h.Found != nil {
					h.Found(&d)
				}
				mu.Unlock()
			}
		})
	}
	for i := range h.Mutants {
		next <- i
	}
	close(next)
	wait.Wait()
	return deaths, err
}

// weave builds the program of all mutants that can be woven into one, and that of
// the tests of each package.
func (h *Hunt) weave(dir string) error {
	h.numbers = map[*Mutant]int{}
	var simulated []woven
	for i := range h.Mutants {
		if m := &h.Mutants[i]; m.Test == "" {
			simulated = append(simulated, woven{m, i + 1})
		}
	}
	files, err := h.woven(simulated)
	if err != nil {
		return err
	}
	if h.program, err = h.build(files, dir, "hunt", "build", "./internal/testing/mutants/hunt"); err != nil {
		return err
	}
	return h.buildTests(dir)
}

// woven returns the changed files of mutants, and numbers those that they have.
func (h *Hunt) woven(list []woven) (map[string][]byte, error) {
	byFile := map[string][]woven{}
	for _, m := range list {
		byFile[m.File] = append(byFile[m.File], m)
	}
	files := map[string][]byte{}
	for name, list := range byFile {
		source, err := os.ReadFile(h.path(name))
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if _, err := m.Apply(source); err != nil {
				return nil, err
			}
		}
		changed, has, err := weave(source, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(has) == 0 {
			continue
		}
		files[name], files[path.Join(path.Dir(name), "mutantinforce.go")] = changed, choice(path.Base(path.Dir(name)))
		for _, m := range has {
			h.numbers[m.Mutant] = m.number
		}
	}
	return files, nil
}

// one plays with the engine of a mutant, or as it is.
func (h *Hunt) one(m *Mutant, seeds int) (d Death, err error) {
	d.Mutant = m
	name := "the engine as it is"
	if m != nil {
		name = m.Name
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("mutants: %s: %w", name, err)
		}
	}()
	if m != nil && m.Test != "" {
		d.Invariant = "test"
		if d.Text, err = h.runTests(path.Dir(m.File), m.Test, h.numbers[m]); d.Text != "" {
			d.Runs = 1
		}
		return d, err
	}
	program := h.program
	if m != nil && h.numbers[m] == 0 {
		dir, err := os.MkdirTemp("", "mutant-*")
		if err != nil {
			return d, err
		}
		defer os.RemoveAll(dir)
		if program, err = h.alone(m, dir); err != nil {
			return d, err
		}
	}
	corpus, err := filepath.Glob(h.path(path.Join("internal/testing/simulate/testdata/corpus", cmp.Or(h.corpus, "*.json"))))
	if err == nil && len(corpus) == 0 {
		err = errors.New("the simulator has no corpus")
	}
	if err != nil {
		return d, err
	}
	slices.SortStableFunc(corpus, func(a, b string) int { return cmp.Compare(m.rank(a), m.rank(b)) })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	play := exec.CommandContext(ctx, program, append([]string{"-seeds", strconv.Itoa(seeds)}, corpus...)...)
	play.Env = append(os.Environ(), inForce+"="+strconv.Itoa(h.numbers[m]))
	out, err := play.CombinedOutput()
	return d, d.judge(string(out), err, ctx.Err() != nil)
}

// rank says in which order the files of the corpus are played: those of attacks on
// limits first for the mutants that they are for, and last for others.
func (m *Mutant) rank(file string) int {
	attack := strings.HasPrefix(filepath.Base(file), "hands-")
	if m != nil && attack == (strings.Contains(m.Hits, "I13") || strings.Contains(m.Hits, "I14")) {
		return 0
	}
	return 1
}

// alone builds the program of a mutant that could not be woven.
func (h *Hunt) alone(m *Mutant, dir string) (program string, err error) {
	source, err := os.ReadFile(h.path(m.File))
	if err != nil {
		return "", err
	}
	changed, err := m.Apply(source)
	if err != nil {
		return "", err
	}
	return h.build(map[string][]byte{m.File: changed}, dir, "hunt", "build", "./internal/testing/mutants/hunt")
}

// path returns where a file of the checkout is.
func (h *Hunt) path(name string) string { return filepath.Join(h.Root, filepath.FromSlash(name)) }

// build has the go command build a program into a folder, with changed or further
// files of the engine.
func (h *Hunt) build(files map[string][]byte, dir, name, verb string, args ...string) (program string, err error) {
	replace := map[string]string{}
	for name, content := range files {
		original, err := filepath.Abs(h.path(name))
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(replace[original], content, 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, name+".overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, name)
	build := exec.Command("go", append([]string{verb, "-o", program, "-overlay", overlay}, args...)...)
	build.Dir = h.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// judge says from what the program printed, and how it ended, how the mutant
// was found. A program that panics, or does not end, has found it as well.
func (d *Death) judge(out string, ended error, late bool) error {
	var exit *exec.ExitError
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.SplitN(first, " ", 3)
	switch {
	case late:
		d.Runs, d.Invariant, d.Text = 1, "I10", "does not end"
	case errors.As(ended, &exit):
		d.Runs, d.Invariant, d.Text = 1, "I10", first
	case ended != nil:
		return ended
	case first == "":
		return nil
	case len(words) < 3:
		return fmt.Errorf("got %q of the simulator", first)
	default:
		d.Invariant, d.Text = words[1], words[2]
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 {
			return fmt.Errorf("got %q of the simulator", first)
		}
		d.Runs = n
	}
	return nil
}
