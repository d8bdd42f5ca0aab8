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
	"path/filepath"
	"runtime"
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

// one builds the engine of a mutant, or as it is, and plays.
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
	dir, err := os.MkdirTemp("", "mutant-*")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(dir)
	program, err := h.build(m, dir)
	if err != nil {
		return d, err
	}
	corpus, err := filepath.Glob(filepath.Join(h.Root, "internal", "simulate", "testdata", "corpus", cmp.Or(h.corpus, "*.json")))
	if err == nil && len(corpus) == 0 {
		err = errors.New("the simulator has no corpus")
	}
	if err != nil {
		return d, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, append([]string{"-seeds", strconv.Itoa(seeds)}, corpus...)...).CombinedOutput()
	return d, d.judge(string(out), err, ctx.Err() != nil)
}

// build builds the program that plays into a folder.
func (h *Hunt) build(m *Mutant, dir string) (program string, err error) {
	program = filepath.Join(dir, "hunt")
	args := []string{"build", "-o", program}
	if m != nil {
		overlay, err := h.overlay(m, dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "./internal/mutants/hunt")...)
	build.Dir = h.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// overlay writes the changed file, and the go command's list of it.
func (h *Hunt) overlay(m *Mutant, dir string) (path string, err error) {
	original, err := filepath.Abs(filepath.Join(h.Root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if source, err = m.Apply(source); err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, source, 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
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
