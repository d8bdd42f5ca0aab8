package faultinjection_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
)

// A drill prints each fault with what every tool found, and what it should have found if that is wrong.
func TestPrintDrill(t *testing.T) {
	var out strings.Builder
	(&faultinjection.Result{
		Rows: []faultinjection.Row{
			{Fault: "none", Planted: "nothing", Tool: "verify", Found: "true", Want: "true", Right: true},
			{Fault: "late command", Planted: "command 3", Tool: "verify", Found: "true", Want: "desync at tick 20", Right: false},
			{Fault: "late command", Planted: "command 3", Tool: "explain", Found: "player 1", Want: "player 1", Right: true},
		},
		Wrong:         1,
		RuleBugs:      faultinjection.Figure{Faults: 5, Tick: 4, Field: 3, False: 1, Exact: 2, Asked: 2},
		CommandFaults: faultinjection.Figure{Faults: 7, Tick: 6, Cause: 5},
		Unplanted:     []faultinjection.Unplanted{{Fault: "flipped bool", Why: "the state has no such field"}},
	}).WriteText(&out)
	want := strings.Join([]string{
		"none: nothing", "verify true right",
		"late command: command 3", "verify true WRONG, want desync at tick 20", "explain player 1 right",
		"not planted: flipped bool: the state has no such field",
		"rule bugs: 5 planted, right tick 4, right field first 3, false cause 1; computed again: exact tick 2 of 2",
		"command faults: 7 planted, right tick 6, right cause 5",
		"verdict: 2 of 3 answers right, 1 fault not planted",
	}, " ")
	if got := strings.Join(strings.Fields(out.String()), " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
