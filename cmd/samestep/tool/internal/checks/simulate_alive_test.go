//go:build !js

package checks

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/mutants"
)

// A surviving mutant is in the report, and the run fails.
func TestMutantAlive(t *testing.T) {
	m := mutants.Mutant{Name: "a fence is left out", Hits: "I1 I4"}
	dead, alive := mutants.Result{Mutant: &m, Runs: 7}, mutants.Result{Mutant: &m, File: "lockstep/host.go"}
	var none *hunted
	for _, row := range []struct {
		name string
		h    *hunted
		want string
		fail bool
	}{
		{"not hunted", none, "mutants    not hunted (--mutants)\n", false},
		{"all dead", newHunted(mutants.Summarize([]mutants.Result{dead})), "mutants    1 of 1 killed, after 7 runs in the median, 7 at the most\n", false},
		{"one lives", newHunted(mutants.Summarize([]mutants.Result{dead, alive})), "\nalive: a fence is left out\nin:    lockstep/host.go, and breaks I1 I4\n", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			(&simulated{Mutants: row.h}).Print(&b, true)
			if !strings.Contains(b.String(), row.want) {
				t.Errorf("got\n%swant\n%s", &b, row.want)
			}
			if err := row.h.err(); (err != nil) != row.fail || row.fail && (!errors.Is(err, errAlive) || console.ExitCode(err) != console.ExitError) {
				t.Errorf("got error %v, want one: %t", err, row.fail)
			}
		})
	}
}
