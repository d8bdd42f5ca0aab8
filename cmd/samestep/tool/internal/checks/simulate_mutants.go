//go:build !js

package checks

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/mutants"
)

var errAlive = errors.New("the simulator has not found every mistake in the engine")

// huntOf returns the hunt for mutants, or nil without --mutants.
func huntOf(c *cli.Context) (*mutants.Hunt, error) {
	if !c.Bool("mutants") {
		return nil, nil
	}
	if c.IsSet("artifact") {
		return nil, console.Usagef("--mutants: cannot be used with --artifact")
	}
	root, err := mutants.Checkout(".")
	if err != nil {
		return nil, console.Usagef("--mutants: needs a checkout of the engine, and the go command: %v", err)
	}
	return &mutants.Hunt{Root: root, Mutants: mutants.All(), Workers: c.Int("workers")}, nil
}

// A hunted is the result of a hunt for mutants.
type hunted struct {
	All    int      `json:"all"`
	Killed int      `json:"killed"`
	Median int      `json:"median_runs"` // until a mutant is killed
	Most   int      `json:"most_runs"`
	Alive  []mutant `json:"alive"`

	text string
}

type mutant struct {
	Name string `json:"name"`
	File string `json:"file"`
	Hits string `json:"breaks"`
}

// runHunt runs a hunt. It returns nil for nil.
func runHunt(w io.Writer, h *mutants.Hunt) (*hunted, error) {
	if h == nil {
		return nil, nil
	}
	bar := console.NewProgress(w, int64(len(h.Mutants)), "mutants")
	defer bar.Done()
	tried := int64(0)
	h.Found = func(*mutants.Result) { tried++; bar.Set(tried) }
	results, err := h.Run()
	if err != nil {
		return nil, err
	}
	return newHunted(mutants.Summarize(results)), nil
}

func newHunted(s *mutants.Summary) *hunted {
	h := &hunted{All: s.All, Killed: s.Killed, Median: s.Median, Most: s.Most, Alive: []mutant{}, text: s.String()}
	for _, r := range s.Alive {
		h.Alive = append(h.Alive, mutant{r.Mutant.Name, r.File, r.Mutant.Hits})
	}
	return h
}

func (h *hunted) print(w io.Writer) {
	for _, m := range h.Alive {
		fmt.Fprintf(w, "\nalive: %s\nin:    %s, and breaks %s\n", m.Name, m.File, m.Hits)
	}
}

// err returns an error if a mutant has survived.
func (h *hunted) err() error {
	if h == nil || len(h.Alive) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s: %w", len(h.Alive), console.Count(h.All, "mutant"), errAlive)
}
